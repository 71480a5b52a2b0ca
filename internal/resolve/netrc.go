package resolve

import (
	"net/url"
	"strings"
)

// Login is a user name and password from a netrc file.
type Login struct{ User, Password string }

// ParseNetrc returns the logins in a netrc file by machine. As in curl
// (https://curl.se/docs/netrc.html), the first entry for a machine counts. The entry "default" is
// ignored, because it would be sent to every server. Unknown words are skipped, since other
// programs use the file too.
func ParseNetrc(data []byte) map[string]Login {
	logins := map[string]Login{}
	machine := ""
	var login Login
	keep := func() {
		if _, known := logins[machine]; machine != "" && !known && login.User != "" && login.Password != "" {
			logins[machine] = login
		}
		machine, login = "", Login{}
	}
	macro := false
	for line := range strings.Lines(string(data)) {
		words := netrcWords(line)
		if macro = macro && len(words) > 0; macro {
			continue
		}
		for i := 0; i < len(words); i++ {
			next := ""
			if i+1 < len(words) {
				next = words[i+1]
			}
			switch words[i] {
			case "machine":
				keep()
				machine = strings.ToLower(next)
			case "default":
				keep()
				continue
			case "login":
				login.User = next
			case "password":
				login.Password = next
			case "macdef":
				macro = true
			}
			i++
		}
	}
	keep()
	return logins
}

// netrcWords returns the words of a line up to a comment; a quoted word may contain spaces.
func netrcWords(line string) []string {
	var words []string
	for {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			return words
		}
		if line[0] != '"' {
			end := strings.IndexAny(line, " \t")
			if end < 0 {
				end = len(line)
			}
			words, line = append(words, line[:end]), line[end:]
			continue
		}
		var word strings.Builder
		i := 1
		for ; i < len(line) && line[i] != '"'; i++ {
			if line[i] == '\\' && i+1 < len(line) {
				i++
			}
			word.WriteByte(line[i])
		}
		words, line = append(words, word.String()), line[min(i+1, len(line)):]
	}
}

// NetrcMachine returns the machine of a URL as written in netrc files: the host, with its port
// unless that is 443. It is "" for servers without TLS.
func NetrcMachine(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" {
		return ""
	}
	if port := u.Port(); port != "" && port != "443" {
		return strings.ToLower(u.Host)
	}
	return strings.ToLower(u.Hostname())
}
