package nocloud

import (
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	vars := map[string]string{"ds.meta_data.instance_id": "5f0c", "v1.local_hostname": "a"}
	const header = "## template: jinja\n"
	cases := map[string]struct{ text, want, err string }{
		"without the header nothing is done": {text: "{{ v1.local_hostname }}", want: "{{ v1.local_hostname }}"},
		"variables":                          {text: header + "{{ ds.meta_data.instance_id }} {{v1.local_hostname}}!", want: "5f0c a!"},
		"an unknown variable says so":        {text: header + "{{ ds.meta_data.zone }}", want: "CI_MISSING_JINJA_VAR/zone"},
		"a raw block":                        {text: header + "{% raw %}{{ x }}{% endraw %}{{ v1.local_hostname }}", want: "{{ x }}a"},
		"a quoted string":                    {text: header + "{{ '{' }}{{ \"x\" }}", want: "{x"},
		"a comment":                          {text: header + "a{# b #}c", want: "ac"},
		"single braces":                      {text: header + "{a: {b: c}}", want: "{a: {b: c}}"},
		"a control structure":                {text: header + "x\n{% if a %}", err: "line 3: control structures"},
		"a filter":                           {text: header + "{{ a | upper }}", err: "is not supported"},
		"an expression without an end":       {text: header + "{{ a", err: "not closed"},
		"a comment without an end":           {text: header + "{# a", err: "not closed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := render(c.text, vars)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
