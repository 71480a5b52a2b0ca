// Package controller runs passes over Flux's HelmReleases in the place of
// helm-controller: it watches them, their sources and what they depend on, hands each
// that may need one to internal/reconcile, writes the status that comes back, and
// tells the events. It holds helm-controller's leader lease, so that only one of the
// two is at work.
//
// It decides nothing about releases and renders nothing. Charts come from the
// artifacts of source-controller, which stays.
package controller
