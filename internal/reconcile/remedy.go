package reconcile

import (
	"context"
	"errors"

	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
)

var errLater = errors.New("not yet")

func (p *pass) rollBack(ctx context.Context, d decision.Decision) error          { return errLater }
func (p *pass) remedyByUninstall(ctx context.Context, d decision.Decision) error { return errLater }
func (p *pass) test(ctx context.Context, d decision.Decision) error              { return errLater }
func (p *pass) unlock(ctx context.Context, d decision.Decision) error            { return errLater }
func (p *pass) correctDrift(ctx context.Context, d decision.Decision) error      { return errLater }
func (p *pass) move(ctx context.Context) error                                   { return errLater }
func (p *pass) remove(ctx context.Context) error                                 { return errLater }
