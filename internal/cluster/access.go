package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Access asks the API server which of the permissions it denies. It first reads the rules of each
// namespace, one request each, which settles what they allow. It asks for the rest individually and
// concurrently: first for a verb and a resource and, only if that is denied, for each object, since
// a role may be limited to names. It never fails: when the server does not answer, the result says
// so.
func (c *Client) Access(ctx context.Context, needed []plan.Permission) plan.Access {
	a := &accessReview{client: c, denied: map[plan.Permission]bool{}}
	return a.review(ctx, a.beyondRules(ctx, needed))
}

// AccessOf is Access for another user, which needs permission to create SubjectAccessReviews. All
// permissions are asked for individually: SelfSubjectRulesReview returns only the caller's own rules.
func (c *Client) AccessOf(ctx context.Context, who plan.Subject, needed []plan.Permission) plan.Access {
	a := &accessReview{client: c, who: who, denied: map[plan.Permission]bool{}}
	return a.review(ctx, needed)
}

func (a *accessReview) review(ctx context.Context, open []plan.Permission) plan.Access {
	a.askAll(ctx, open, func(p plan.Permission) (plan.Permission, bool) {
		p.Name = ""
		return p, true
	})
	a.askAll(ctx, open, func(p plan.Permission) (plan.Permission, bool) {
		whole := p
		whole.Name = ""
		return p, p.Name != "" && a.denied[whole]
	})
	return a.answer(open)
}

// accessReview collects the denied permissions.
type accessReview struct {
	client *Client
	// who is the user that is asked about; an empty User is the client's own.
	who plan.Subject

	mu     sync.Mutex
	denied map[plan.Permission]bool
	err    error
}

// beyondRules returns the permissions that the rules of their namespaces do not allow. Rules may be
// incomplete, and there are none for the whole cluster, so the returned permissions have to be
// asked for
// (https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-rules-review-v1/).
func (a *accessReview) beyondRules(ctx context.Context, needed []plan.Permission) []plan.Permission {
	rules := map[string][]authorizationv1.ResourceRule{}
	var namespaces []string
	for _, p := range needed {
		if p.Namespace != "" && !slices.Contains(namespaces, p.Namespace) {
			namespaces = append(namespaces, p.Namespace)
		}
	}
	var group errgroup.Group
	group.SetLimit(retry.Concurrency)
	for _, namespace := range namespaces {
		group.Go(func() error {
			var review *authorizationv1.SelfSubjectRulesReview
			err := a.client.read(ctx, func(ctx context.Context) (err error) {
				review, err = a.client.access.SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{
					Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace},
				}, metav1.CreateOptions{})
				return err
			})
			if err != nil {
				return nil // asking individually will report the same error
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			rules[namespace] = review.Status.ResourceRules
			return nil
		})
	}
	_ = group.Wait()
	return slices.DeleteFunc(slices.Clone(needed), func(p plan.Permission) bool {
		return slices.ContainsFunc(rules[p.Namespace], func(r authorizationv1.ResourceRule) bool { return allows(r, p) })
	})
}

func allows(r authorizationv1.ResourceRule, p plan.Permission) bool {
	has := func(list []string, word string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, word)
	}
	return has(r.Verbs, p.Verb) && has(r.APIGroups, p.Group) && has(r.Resources, p.Resource) &&
		(len(r.ResourceNames) == 0 || p.Name != "" && slices.Contains(r.ResourceNames, p.Name))
}

// askAll converts the permissions to questions and asks each distinct question once.
func (a *accessReview) askAll(ctx context.Context, needed []plan.Permission, question func(plan.Permission) (plan.Permission, bool)) {
	var questions []plan.Permission
	seen := map[plan.Permission]bool{}
	for _, p := range needed {
		if q, ok := question(p); ok && !seen[q] {
			seen[q] = true
			questions = append(questions, q)
		}
	}
	var group errgroup.Group
	group.SetLimit(retry.Concurrency)
	for _, q := range questions {
		group.Go(func() error {
			a.ask(ctx, q)
			return nil
		})
	}
	_ = group.Wait() // ask keeps the error
}

func (a *accessReview) ask(ctx context.Context, p plan.Permission) {
	var allowed bool
	about := &authorizationv1.ResourceAttributes{Verb: p.Verb, Group: p.Group, Resource: p.Resource, Namespace: p.Namespace, Name: p.Name}
	err := a.client.read(ctx, func(ctx context.Context) (err error) {
		if a.who.User == "" {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: about}}
			review, err = a.client.access.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			allowed = err == nil && review.Status.Allowed
			return err
		}
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: a.who.User, Groups: a.who.Groups, ResourceAttributes: about}}
		review, err = a.client.access.SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		allowed = err == nil && review.Status.Allowed
		return err
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err != nil && a.err == nil:
		a.err = errors.New(message(err))
	case err == nil && !allowed:
		a.denied[p] = true
	}
}

// answer returns the denied permissions among the needed ones: one that is denied without a name
// may be allowed with it.
func (a *accessReview) answer(needed []plan.Permission) plan.Access {
	out := plan.Access{Denied: map[plan.Permission]bool{}}
	for _, p := range needed {
		if a.denied[p] {
			out.Denied[p] = true
		}
	}
	if a.err != nil {
		out.Unchecked = a.err.Error()
	}
	return out
}
