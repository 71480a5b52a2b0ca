package apitypes

import (
	"testing"
	"time"
)

// Quantities are equal if and only if the API server reads them as the same value.
func TestEqualQuantities(t *testing.T) {
	cases := []struct {
		a, b any
		want bool
	}{
		{"1", "1000m", true},
		{"1Gi", "1024Mi", true},
		{int64(1), "1", true},
		{0.5, "500m", true},
		{"1e3", "1k", true},
		{"1G", "1Gi", false},
		{"1", "2", false},
		{"one", "1", false},
		{true, "1", false},
	}
	for _, c := range cases {
		if got := Equal(c.a, c.b, &Node{form: FormQuantity}); got != c.want {
			t.Errorf("%v and %v: equal is %v", c.a, c.b, got)
		}
	}
}

// A quantity with a huge exponent would keep the parser busy forever (S34).
func TestHugeQuantityIsBounded(t *testing.T) {
	done := make(chan bool)
	go func() {
		done <- equalQuantity("1e-99999999", "1") || equalQuantity("1e99999999", "1")
	}()
	select {
	case same := <-done:
		if same {
			t.Error("a huge quantity is not 1")
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("comparing quantities takes for ever")
	}
}

// Amounts of resources in a custom resource are quantities, other fields below limits are not.
func TestLimitsOfCustomResources(t *testing.T) {
	for name, want := range map[string]bool{
		"cpu": true, "memory": true, "ephemeral-storage": true, "hugepages-2Mi": true, "example.com/gpu": true,
		"version": false, "": false,
	} {
		a, b := map[string]any{"limits": map[string]any{name: "1.1"}}, map[string]any{"limits": map[string]any{name: "1.10"}}
		if got := Equal(a, b, nil); got != want {
			t.Errorf("%q: equal is %t", name, got)
		}
	}
}
