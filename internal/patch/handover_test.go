package patch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUpdaters(t *testing.T) {
	const (
		updated = `{"manager":"helm","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}`
		old     = `{"manager":"helm","operation":"Update","apiVersion":"v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:old":{}}}}`
		applied = `{"manager":"helm","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:b":{}}}}`
		edited  = `{"manager":"kubectl-edit","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:c":{}}}}`
		scaled  = `{"manager":"helm","operation":"Update","subresource":"scale","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}`
		other   = `{"manager":"ours","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:d":{}}}}`
	)
	for why, c := range map[string]struct {
		entries string
		want    []string
	}{
		"a client-side patch is an update":          {`[` + updated + `]`, []string{"helm"}},
		"a manager is named once":                   {`[` + updated + `,` + old + `]`, []string{"helm"}},
		"what is applied is owned already":          {`[` + applied + `]`, nil},
		"others, and subresources, keep their own":  {`[` + edited + `,` + scaled + `]`, nil},
		"another field manager of ours gives, too":  {`[` + updated + `,` + other + `]`, []string{"helm", "ours"}},
		"an object need not have any managed field": {`null`, nil},
	} {
		t.Run(why, func(t *testing.T) {
			live := object(t, `{"kind":"ConfigMap","metadata":{"name":"a","managedFields":`+c.entries+`}}`)
			if diff := cmp.Diff(c.want, Updaters(live, live.GetManagedFields(), "helm", "ours")); diff != "" {
				t.Error(diff)
			}
		})
	}
	secret := object(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","managedFields":[{"manager":"helm","operation":"Apply","fieldsV1":{"f:stringData":{"f:a":{}}}}]}}`)
	if diff := cmp.Diff([]string{"helm"}, Updaters(secret, secret.GetManagedFields(), "helm")); diff != "" {
		t.Errorf("what was applied as stringData stays when it is dropped: %s", diff)
	}
	if got := Updaters(nil, nil, "helm"); got != nil {
		t.Errorf("an object that is not there has updaters: %v", got)
	}
}
