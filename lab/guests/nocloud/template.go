package nocloud

import (
	"fmt"
	"regexp"
	"strings"
)

// templateHeader marks user-data that cloud-init renders with Jinja before it reads it.
var templateHeader = regexp.MustCompile(`^##\s*template:\s*jinja[ \t]*\r?\n`)

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)
	quoted       = regexp.MustCompile(`^(?:'([^'\\]*)'|"([^"\\]*)")$`)
	rawBlock     = regexp.MustCompile(`(?s)^\{%[-+]?\s*raw\s*[-+]?%\}(.*?)\{%[-+]?\s*endraw\s*[-+]?%\}`)
)

// missingVariable is what cloud-init writes in place of a variable that does not exist.
const missingVariable = "CI_MISSING_JINJA_VAR/"

// render renders user-data when its first line asks for it, and returns it unchanged otherwise. Of Jinja it knows
// variables, quoted strings, comments and raw blocks; anything else is an error, as control structures would need
// the real thing.
func render(text string, vars map[string]string) (string, error) {
	header := templateHeader.FindString(text)
	if header == "" {
		return text, nil
	}
	var out strings.Builder
	rest := text[len(header):]
	for {
		i := indexTag(rest)
		if i < 0 {
			out.WriteString(rest)
			return out.String(), nil
		}
		out.WriteString(rest[:i])
		value, length, err := renderTag(rest[i:], vars)
		if err != nil {
			return "", fmt.Errorf("render user-data: line %d: %w", 2+strings.Count(text[len(header):len(text)-len(rest)+i], "\n"), err)
		}
		out.WriteString(value)
		rest = rest[i+length:]
	}
}

// indexTag finds the next opening delimiter, or -1.
func indexTag(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '{' && strings.IndexByte("{%#", s[i+1]) >= 0 {
			return i
		}
	}
	return -1
}

// renderTag renders the tag at the start of s and says how many bytes of s it took.
func renderTag(s string, vars map[string]string) (string, int, error) {
	switch s[1] {
	case '#':
		end := strings.Index(s, "#}")
		if end < 0 {
			return "", 0, fmt.Errorf("comment is not closed")
		}
		return "", end + 2, nil
	case '%':
		m := rawBlock.FindStringSubmatch(s)
		if m == nil {
			return "", 0, fmt.Errorf("control structures are not supported")
		}
		return m[1], len(m[0]), nil
	}
	end := strings.Index(s, "}}")
	if end < 0 {
		return "", 0, fmt.Errorf("expression is not closed")
	}
	value, err := evaluate(strings.TrimSpace(s[2:end]), vars)
	return value, end + 2, err
}

func evaluate(expression string, vars map[string]string) (string, error) {
	if m := quoted.FindStringSubmatch(expression); m != nil {
		return m[1] + m[2], nil
	}
	if !variableName.MatchString(expression) {
		return "", fmt.Errorf("expression %q is not supported", expression)
	}
	if value, ok := vars[expression]; ok {
		return value, nil
	}
	return missingVariable + expression[strings.LastIndexByte(expression, '.')+1:], nil
}
