package reconcile

import (
	"context"
	"errors"

	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
)

func (p *pass) correctDrift(context.Context, decision.Decision) error { return errors.New("not yet") }
