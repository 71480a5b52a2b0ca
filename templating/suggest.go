package templating

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/spelling"
)

// unknownTemplate ends the render: no template has that name.
func (s *state) unknownTemplate(name string) {
	e := s.failure(fmt.Sprintf("there is no template %q", name), nil)
	if near := spelling.Nearest(name, s.names.all()); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	panic(e)
}

// missingKey ends a strict render.
func (s *state) missingKey(m map[string]any, name string, c site) {
	s.node = c.node
	e := s.failure(fmt.Sprintf("there is no key %q", name), nil)
	if near := spelling.Nearest(name, sortedKeys(m)); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	panic(e)
}
