package flux

import (
	"fmt"
	"strings"
	"time"
)

// Annotations of HelmReleases that are our controller's own.
const (
	// AnnotationPlan with the value RequireApproval holds each plan until AnnotationApprove names
	// the digest of its effect.
	AnnotationPlan    = "kubectl-release.dev/plan"
	RequireApproval   = "require-approval"
	AnnotationApprove = "kubectl-release.dev/approve"
)

// Conditions of HelmReleases that are our controller's own: the plan that was made last, and a
// plan that waits for its approval, or has had it.
const (
	ConditionPlanned       = "Planned"
	ConditionApproved      = "Approved"
	ReasonApprovalRequired = "ApprovalRequired"
)

// waits stands between what a plan does and how it is approved.
const waits = " waits for its approval: "

// Approval is a plan that waits for its approval.
type Approval struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// What says what the plan does, Digest which one it is, Since when it was made first.
	What   string    `json:"what"`
	Digest string    `json:"digest"`
	Since  time.Time `json:"since"`
	// Command approves it.
	Command string `json:"command"`
}

// NewApproval is that of a plan of the digest for a HelmRelease.
func NewApproval(hr *HelmRelease, what, digest string) Approval {
	m := hr.Metadata
	return Approval{Namespace: m.Namespace, Name: m.Name, What: what, Digest: digest, Command: fmt.Sprintf(
		"kubectl annotate --overwrite -n %s helmrelease %s %s=%s", m.Namespace, m.Name, AnnotationApprove, digest)}
}

// Message is what the condition says.
func (a Approval) Message() string { return a.What + waits + a.Command }

// ApprovalOf is what waits for its approval by the status of the HelmRelease; false as well where
// what the status says is not a digest.
func ApprovalOf(hr *HelmRelease) (Approval, bool) {
	c := Condition(hr.Status.Conditions, ConditionApproved)
	if c == nil || c.Status != "False" || c.Reason != ReasonApprovalRequired {
		return Approval{}, false
	}
	what, command, _ := strings.Cut(c.Message, waits)
	_, digest, _ := strings.Cut(command, AnnotationApprove+"=")
	// The command is there to be pasted into a shell, whoever has written the status.
	if hex, ok := strings.CutPrefix(digest, "sha256:"); !ok || strings.Trim(hex, "0123456789abcdef") != "" {
		return Approval{}, false
	}
	out := NewApproval(hr, what, digest)
	out.Since = c.LastTransitionTime.Time
	return out, true
}
