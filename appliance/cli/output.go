package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"
)

// write shows a value in the format that was asked for; table is how people read it.
func (t *terms) write(out io.Writer, value any, table func(io.Writer) error) error {
	switch t.output {
	case "json":
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(value)
	case "yaml":
		text, err := yaml.Marshal(value)
		if err != nil {
			return fmt.Errorf("write YAML: %w", err)
		}
		_, err = out.Write(text)
		return err
	}
	return table(out)
}

func (t *terms) checkOutput() error {
	switch t.output {
	case "table", "json", "yaml":
		return nil
	}
	return usage("--output is %q; it may be table, json or yaml", t.output)
}

// rows writes a table with a heading.
func rows(out io.Writer, heading []string, lines [][]string) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	for _, line := range append([][]string{heading}, lines...) {
		for i, cell := range line {
			if line[i] = printable(cell); cell == "" {
				line[i] = "-"
			}
		}
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	return w.Flush()
}

// printable keeps what others wrote from steering the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}
