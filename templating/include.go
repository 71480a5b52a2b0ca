package templating

import "strings"

// include executes a named template and returns its text.
func (s *state) include(args []any) any {
	name, _ := args[0].(string)
	t := s.names.lookup(name)
	if t == nil {
		s.unknownTemplate(name)
	}
	if s.includes[name] > maxIncludes {
		s.fail("the template %q includes itself more than %d levels deep", name, maxIncludes)
	}
	s.includes[name]++
	text := s.execute(s.names, t, args[1])
	s.includes[name]--
	return text
}

// execute runs a template and returns its output.
func (s *state) execute(n *names, t *template, data any) string {
	s.enter(s.node)
	inner := s.newState(n, t, data)
	inner.walk(data, t.tree.Root)
	s.leave()
	return inner.text()
}

// tpl executes a text as a template. It sees the templates of its caller; templates that it defines
// are visible to what it calls and disappear when it ends. Equal texts are parsed once.
func (s *state) tpl(args []any) any {
	text, _ := args[0].(string)
	if !strings.Contains(text, "{{") {
		s.check(s.Made(len(text)))
		return dropNoValue(text)
	}
	s.check(s.Read(len(text)))
	u, ok := s.tpls[text]
	if !ok {
		var err error
		words := wordsOf(text)
		s.check(s.Step(wordSteps*words + len(text)/tplBytes))
		if s.words += words; s.words > maxWords {
			s.fail("the actions in all texts given to tpl have more than %d words in total", maxWords)
		}
		if u, err = parseUnit(tplName, s.tplPlace(), text, s.functions.names); err != nil {
			s.brokenTpl(err)
		}
		s.tpls[text] = u
	}
	inner := &names{below: s.names, own: make(map[string]*template, len(u.trees))}
	inner.add(u, tplName)
	body := &template{name: tplName, file: s.tplPlace(), tree: u.trees[tplName]}
	for _, t := range inner.own {
		t.file = body.file
	}
	return dropNoValue(s.execute(inner, body, args[1]))
}

// tplPlace names the text of a tpl call in errors, by the place of the call.
func (s *state) tplPlace() string {
	at := s.located(s.tmpl, s.node)
	return "text of tpl at " + Place{File: at.File, Line: at.Line}.String()
}

func (s *state) brokenTpl(err error) {
	e := s.failure("the text given to tpl can't be parsed", err)
	if inner, ok := err.(*Error); ok { //nolint:errorlint // parseUnit returns no wrapped errors
		e.Message += ": " + inner.Message
	}
	panic(e)
}

// required returns the value, or ends the render with the chart's message if it is nil or "".
func (s *state) required(args []any) any {
	message, _ := args[0].(string)
	if args[1] == nil || args[1] == "" {
		return s.refuse(message)
	}
	return args[1]
}

// refuse ends the render with the chart's message; in lint mode it adds a warning instead.
func (s *state) refuse(message string) any {
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "… (cut)"
	}
	if s.options.Lint {
		s.warnings = append(s.warnings, message)
		return ""
	}
	panic(s.failure(message, nil))
}
