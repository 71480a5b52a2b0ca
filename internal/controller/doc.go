// Package controller replaces helm-controller: it watches Flux's HelmReleases, their
// sources and what they depend on, hands each that may need a pass (one
// reconciliation) to internal/reconcile, writes the resulting status, and emits the
// events. It holds helm-controller's leader lease, so only one of the two is active.
//
// It decides nothing about releases and renders nothing. Charts come from the
// artifacts of source-controller, which is still needed.
package controller
