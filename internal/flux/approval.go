package flux

import (
	"fmt"
	"strings"
	"time"
)

// Annotations of HelmReleases that only our own controller knows.
const (
	// AnnotationPlan with the value RequireApproval holds each plan back until AnnotationApprove
	// names its effect digest.
	AnnotationPlan    = "kubectl-release.dev/plan"
	RequireApproval   = "require-approval"
	AnnotationApprove = "kubectl-release.dev/approve"
)

// Conditions of HelmReleases that only our own controller sets: Planned is the latest plan,
// Approved says whether a plan is approved or still waits for it.
const (
	ConditionPlanned       = "Planned"
	ConditionApproved      = "Approved"
	ReasonApprovalRequired = "ApprovalRequired"
)

// waits separates what a plan does from how to approve it, in the message of the condition.
const waits = " waits for its approval: "

// Approval is a plan that waits for its approval.
type Approval struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// What says what the plan does, Digest identifies it, Since is when it was first made.
	What   string    `json:"what"`
	Digest string    `json:"digest"`
	Since  time.Time `json:"since"`
	// Command is the shell command that approves it.
	Command string `json:"command"`
}

// NewApproval returns the Approval of the HelmRelease's plan with that digest; Since is not set.
func NewApproval(hr *HelmRelease, what, digest string) Approval {
	m := hr.Metadata
	return Approval{Namespace: m.Namespace, Name: m.Name, What: what, Digest: digest, Command: fmt.Sprintf(
		"kubectl annotate --overwrite -n %s helmrelease %s %s=%s", m.Namespace, m.Name, AnnotationApprove, digest)}
}

// Message returns the message of the condition.
func (a Approval) Message() string { return a.What + waits + a.Command }

// ApprovalOf returns the plan that waits for its approval according to the HelmRelease's status;
// false if there is none, or if the digest in the status is malformed.
func ApprovalOf(hr *HelmRelease) (Approval, bool) {
	c := Condition(hr.Status.Conditions, ConditionApproved)
	if c == nil || c.Status != "False" || c.Reason != ReasonApprovalRequired {
		return Approval{}, false
	}
	what, command, _ := strings.Cut(c.Message, waits)
	_, digest, _ := strings.Cut(command, AnnotationApprove+"=")
	// The command will be pasted into a shell, and anybody may have written the status.
	if hex, ok := strings.CutPrefix(digest, "sha256:"); !ok || strings.Trim(hex, "0123456789abcdef") != "" {
		return Approval{}, false
	}
	out := NewApproval(hr, what, digest)
	out.Since = c.LastTransitionTime.Time
	return out, true
}
