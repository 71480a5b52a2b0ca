package quota

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Add adds amounts to a sum.
func Add(sum, more corev1.ResourceList) {
	for name, amount := range more {
		total := sum[name].DeepCopy()
		total.Add(amount)
		sum[name] = total
	}
}

// Raise sets each amount to at least the one in the other list.
func Raise(list, other corev1.ResourceList) {
	for name, amount := range other {
		if has := list[name]; has.Cmp(amount) < 0 {
			list[name] = amount
		}
	}
}

// Less returns a minus b; amounts may be negative.
func Less(a, b corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	Add(out, a)
	for name, amount := range b {
		left := out[name].DeepCopy()
		left.Sub(amount)
		out[name] = left
	}
	return out
}

// Same reports whether two lists have the same amounts, of which a missing one is zero.
func Same(a, b corev1.ResourceList) bool {
	zero := func(x, y resource.Quantity) bool { return x.Sign() == 0 && y.Sign() == 0 }
	return maps.EqualFunc(Less(a, b), Less(b, a), zero)
}
