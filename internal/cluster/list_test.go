package cluster_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/apply"
)

// pages answers a LIST in pages of one object each, named by the characters of names. If expired
// is negative, all pages are served; otherwise the token of that page is too old.
func (s *server) pages(names string, expired int) {
	s.answers["GET /api/v1/namespaces/shop/configmaps"] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		items := []any{}
		meta := map[string]any{"resourceVersion": "1"}
		at := 0
		if token := r.URL.Query().Get("continue"); token != "" {
			at = int(token[0] - '0')
		}
		switch {
		case r.URL.Query().Get("limit") == "":
			for _, n := range names {
				items = append(items, configMap(string(n)))
			}
		case at == expired:
			status(http.StatusGone, metav1.Status{Reason: metav1.StatusReasonExpired, Message: "too old"})(w, r)
			return
		default:
			items = append(items, configMap(names[at:at+1]))
			if at+1 < len(names) {
				meta["continue"] = string(rune('0' + at + 1))
			}
		}
		encode(w, map[string]any{"kind": "ConfigMapList", "apiVersion": "v1", "metadata": meta, "items": items})
	}
}

// wanted returns references to ConfigMaps named by the characters of names.
func wanted(names string) []apply.Ref {
	var refs []apply.Ref
	for _, n := range names {
		refs = append(refs, ref("ConfigMap", string(n)))
	}
	return refs
}

// manyNames are more names than are read one by one when a page lacks them.
const manyNames = "0123456789abcdefghijklmno"

// A namespace with more objects than a page holds is read to its end; if the
// list expires on the way, it is read again in one piece.
func TestObserveReadsPages(t *testing.T) {
	for name, expired := range map[string]int{"all pages": -1, "a token that is too old": 2} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.pages("0123456", expired)
			for _, n := range "0123456" {
				s.reply("GET /api/v1/namespaces/shop/configmaps/"+string(n), configMap(string(n)))
			}
			seen, err := s.connect(t).Observe(t.Context(), wanted(manyNames))
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range manyNames {
				o := seen[ref("ConfigMap", string(n)).ID]
				if there := n < '7' && n >= '0'; (o.Object != nil) != there || o.Unreadable != "" {
					t.Errorf("%c is %+v", n, o)
				}
			}
		})
	}
}

// Each object of a LIST has its own managedFields, whether or not they equal its neighbour's.
func TestObserveReadsManagers(t *testing.T) {
	managers := map[string]string{"a": "helm", "b": "helm", "c": "kubectl", "d": "", "e": "helm"}
	var items []any
	for _, name := range slices.Sorted(maps.Keys(managers)) {
		object := configMap(name)
		if managers[name] != "" {
			object["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{"manager": managers[name], "fieldsV1": map[string]any{"f:data": map[string]any{}}}}
		}
		items = append(items, object)
	}
	s := newServer(t)
	s.reply("GET /api/v1/namespaces/shop/configmaps", map[string]any{"kind": "ConfigMapList", "apiVersion": "v1", "items": items, "metadata": map[string]any{}})
	seen, err := s.connect(t).Observe(t.Context(), wanted("abcde"))
	if err != nil {
		t.Fatal(err)
	}
	for name, manager := range managers {
		entries := seen[ref("ConfigMap", name).ID].Managers
		switch {
		case manager == "" && len(entries) == 0:
		case len(entries) != 1 || entries[0].Manager != manager || string(entries[0].FieldsV1.GetRawBytes()) != `{"f:data":{}}`:
			t.Errorf("%s has %+v, want one entry of %q", name, entries, manager)
		}
	}
}

// In a full namespace the last few are read one by one, not page by page.
func TestObserveStopsPagingForAFew(t *testing.T) {
	s := newServer(t)
	s.pages("0123456", -1)
	for _, n := range "456" {
		s.reply("GET /api/v1/namespaces/shop/configmaps/"+string(n), configMap(string(n)))
	}
	seen, err := s.connect(t).Observe(t.Context(), wanted("456"))
	if err != nil {
		t.Fatal(err)
	}
	for id, o := range seen {
		if o.Object == nil {
			t.Errorf("%s is %+v", id, o)
		}
	}
	if n := len(s.requests()); n != 4 {
		t.Errorf("%d requests, want one page and three GETs", n)
	}
}
