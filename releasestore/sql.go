package releasestore

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// sqlRows keeps records as rows of Helm's tables in PostgreSQL. A row's resource version is its
// xmin, the number of the transaction that wrote it. Each method is one statement and so one
// transaction, which includes the custom labels.
type sqlRows struct{ db *database }

func (sqlRows) kind() string { return "SQL row" }

// maxSize is unlimited: a text column holds 1 GB, so MaxUnpacked is the limit that counts.
func (sqlRows) maxSize() int { return 0 }

// selectKeys, a body and selectRest select the columns that scanRow reads.
const (
	selectKeys = `
		SELECT r.key, r.namespace, `
	selectRest   = `, r.xmin, r.name, r.version, left(r.status, 64), left(r.owner, 64), r.createdat, r.modifiedat, `
	selectLabels = `(SELECT json_object_agg(l.key, l.value) FROM custom_labels_v1 l
			WHERE l.releasekey = r.key AND l.releasenamespace = r.namespace AND l.key IS NOT NULL)`
	fromRows = `
		FROM releases_v1 r `
)

// maxBody is the size of the largest record that can be read, in base64 of gzip that has found
// nothing to compress. pageBody is how large it may be to be read in a page with others, which is a
// bit more than what a Secret holds; larger ones are read one by one.
const (
	maxBody  = (MaxUnpacked + MaxUnpacked>>10) / 3 * 4
	pageBody = 2 * MaxSize
)

// body is the expression for the record if it has at most that many bytes, and otherwise NULL.
func body(most int) string {
	return fmt.Sprintf("CASE WHEN octet_length(r.body) <= %d THEN r.body END", most)
}

var errBody = fmt.Errorf("its row holds more than the %d MiB that a record can have", maxBody>>20)

// read selects rows; body is the expression for the record's column, and tooLong the error of a
// record for which it is NULL. A database without Helm's
// tables has no rows; one that was set up by Helm before 3.13 has no custom labels.
func (b sqlRows) read(ctx context.Context, body string, tooLong error, where string, params ...*string) ([]object, error) {
	rows, err := b.db.ask(ctx, selectKeys+body+selectRest+selectLabels+fromRows+where, params...)
	if undefinedTable(err) {
		rows, err = b.db.ask(ctx, selectKeys+body+selectRest+"NULL"+fromRows+where, params...)
	}
	if undefinedTable(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	objects := make([]object, 0, len(rows))
	for _, row := range rows {
		o, err := scanRow(row)
		if err != nil {
			return nil, err
		}
		if row[2] == nil {
			o.unread = tooLong
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// scanRow converts one row to an object.
func scanRow(row [][]byte) (object, error) {
	all := map[string]string{}
	if custom := row[10]; custom != nil {
		if err := json.Unmarshal(custom, &all); err != nil {
			return object{}, fmt.Errorf("read custom labels of %s: %w", row[0], err)
		}
	}
	for i, label := range []string{labelName, labelVersion, labelStatus, labelOwner, labelCreatedAt, labelModifiedAt} {
		all[label] = string(row[4+i])
	}
	if all[labelModifiedAt] == "0" {
		delete(all, labelModifiedAt) // 0 is the column's default, for never modified
	}
	return object{
		meta: metav1.ObjectMeta{
			Name: string(row[0]), Namespace: string(row[1]), ResourceVersion: string(row[3]), Labels: all,
		},
		record: string(row[2]),
	}, nil
}

func (b sqlRows) get(ctx context.Context, at location) (object, error) {
	found, err := b.read(ctx, body(maxBody), errBody, `WHERE r.key = $1 AND r.namespace = $2`, &at.name, &at.namespace)
	switch {
	case err != nil:
		return object{}, err
	case len(found) == 0:
		return object{}, apierrors.NewNotFound(sqlResource(), at.name)
	}
	return found[0], nil
}

// tokenSeparator separates namespace and key in a continue token. No column of PostgreSQL can hold
// it, while a namespace in a database may have anything else in it.
const tokenSeparator = "\x00"

// list selects by namespace and name in the database. The rest of the selector is applied here: it
// excludes few rows.
func (b sqlRows) list(ctx context.Context, namespace string, o listOptions) ([]object, string, error) {
	selector, err := labels.Parse(o.LabelSelector)
	if err != nil {
		return nil, "", err
	}
	name, _ := selector.RequiresExactMatch(labelName)
	afterNamespace, afterKey, _ := strings.Cut(o.Continue, tokenSeparator)
	var limit *string // NULL is no limit
	if o.Limit > 0 {
		limit = new(strconv.FormatInt(o.Limit, 10))
	}
	record, tooLong := body(maxBody), errBody
	switch {
	case o.metadataOnly:
		record = "''"
	case o.Limit > 0:
		record, tooLong = body(pageBody), errTooLong // which has it read again on its own
	}
	found, err := b.read(ctx, record, tooLong, `
		WHERE ($1::text = '' OR r.namespace = $1) AND ($2::text = '' OR r.name = $2)
			AND (r.namespace, r.key) > ($3::text, $4::text)
		ORDER BY r.namespace, r.key LIMIT $5::bigint`, &namespace, &name, &afterNamespace, &afterKey, limit)
	if err != nil {
		return nil, "", err
	}
	next := ""
	if o.Limit > 0 && int64(len(found)) == o.Limit {
		last := found[len(found)-1].location()
		next = last.namespace + tokenSeparator + last.name
	}
	kept := make([]object, 0, len(found))
	for _, o := range found {
		if selector.Matches(labels.Set(o.meta.Labels)) {
			kept = append(kept, o)
		}
	}
	return kept, next, nil
}

// setLabels ends a statement that begins with r, the row that was written: it replaces the row's
// custom labels with those in $3, and returns the row's new version.
const setLabels = `, gone AS (
		DELETE FROM custom_labels_v1 l USING r WHERE l.releasekey = r.key AND l.releasenamespace = r.namespace
	), set AS (
		INSERT INTO custom_labels_v1 (releasekey, releasenamespace, key, value)
		SELECT r.key, r.namespace, x.key, x.value FROM r, json_each_text($3::json) x
	) SELECT seen FROM r`

func (b sqlRows) create(ctx context.Context, o object) (object, error) {
	custom, err := customLabels(o)
	if err != nil {
		return object{}, err
	}
	all := o.meta.Labels
	rows, err := b.write(ctx, `
		WITH r AS (
			INSERT INTO releases_v1 (key, namespace, type, body, name, version, status, owner, createdat)
			VALUES ($1, $2, '`+recordType+`', $4, $5, $6::integer, $7, $8, $9::integer)
			ON CONFLICT DO NOTHING RETURNING key, namespace, xmin::text AS seen
		)`+setLabels, &o.meta.Name, &o.meta.Namespace, &custom, &o.record, new(all[labelName]),
		new(all[labelVersion]), new(all[labelStatus]), new(all[labelOwner]), new(all[labelCreatedAt]))
	switch {
	case err != nil:
		return object{}, err
	case len(rows) == 0:
		return object{}, apierrors.NewAlreadyExists(sqlResource(), o.meta.Name)
	}
	o.meta.ResourceVersion = string(rows[0][0])
	return o, nil
}

func (b sqlRows) update(ctx context.Context, o object) (object, error) {
	custom, err := customLabels(o)
	if err != nil {
		return object{}, err
	}
	rows, err := b.write(ctx, `
		WITH r AS (
			UPDATE releases_v1 SET body = $4, status = $5, modifiedat = $6::integer
			WHERE key = $1 AND namespace = $2 AND xmin::text = $7
			RETURNING key, namespace, xmin::text AS seen
		)`+setLabels, &o.meta.Name, &o.meta.Namespace, &custom, &o.record,
		new(o.meta.Labels[labelStatus]), new(o.meta.Labels[labelModifiedAt]), &o.meta.ResourceVersion)
	switch {
	case err != nil:
		return object{}, err
	case len(rows) == 0:
		return object{}, b.missed(ctx, o.location())
	}
	o.meta.ResourceVersion = string(rows[0][0])
	return o, nil
}

func (b sqlRows) delete(ctx context.Context, at location, o metav1.DeleteOptions) error {
	var seen *string // NULL: any version
	if o.Preconditions != nil {
		seen = o.Preconditions.ResourceVersion
	}
	rows, err := b.write(ctx, `
		WITH r AS (
			DELETE FROM releases_v1
			WHERE key = $1 AND namespace = $2 AND ($3::text IS NULL OR xmin::text = $3)
			RETURNING key, namespace
		), gone AS (
			DELETE FROM custom_labels_v1 l USING r WHERE l.releasekey = r.key AND l.releasenamespace = r.namespace
		) SELECT key FROM r`, &at.name, &at.namespace, seen)
	switch {
	case err != nil:
		return err
	case len(rows) == 0:
		return b.missed(ctx, at)
	}
	return nil
}

// missed returns why a write matched no row: not-found or a conflict.
func (b sqlRows) missed(ctx context.Context, at location) error {
	if _, err := b.get(ctx, at); err != nil {
		return err
	}
	return apierrors.NewConflict(sqlResource(), at.name, nil)
}

// write runs a statement that writes, and creates missing tables.
func (b sqlRows) write(ctx context.Context, statement string, params ...*string) ([][][]byte, error) {
	rows, err := b.db.ask(ctx, statement, params...)
	if !undefinedTable(err) {
		return rows, err
	}
	if err := b.db.setUp(ctx); err != nil {
		return nil, err
	}
	return b.db.ask(ctx, statement, params...)
}

// maxLabelledKey is the longest name of a record with custom labels, by the column
// custom_labels_v1.releaseKey (Helm 4.3.1, pkg/storage/driver/sql.go). Without labels, it may have
// 90 characters.
const maxLabelledKey = 64

// customLabels returns the user's labels as JSON.
func customLabels(o object) (string, error) {
	user := userLabels(o.meta.Labels)
	if len(user) > 0 && len(o.meta.Name) > maxLabelledKey {
		return "", fmt.Errorf("labels of %s: Helm's SQL tables take labels only for records whose name has at most %d characters; leave the labels out or shorten the release's name",
			o.meta.Name, maxLabelledKey)
	}
	text, err := json.Marshal(user)
	return string(text), err
}

func sqlResource() schema.GroupResource { return schema.GroupResource{Resource: "releases_v1"} }
