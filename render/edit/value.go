package edit

import (
	"fmt"
	"strconv"
)

// setIn sets a field of a decoded value.
func setIn(doc any, steps []string, value any) (any, error) {
	if len(steps) == 0 {
		return value, nil
	}
	switch d := doc.(type) {
	case nil:
		return setIn(map[string]any{}, steps, value)
	case map[string]any:
		below, err := setIn(d[steps[0]], steps[1:], value)
		if err == nil {
			d[steps[0]] = below
		}
		return d, err
	case []any:
		i, err := strconv.Atoi(steps[0])
		if err != nil || i < 0 || i > len(d) {
			return nil, fmt.Errorf("there is no item %q in a list of %d", steps[0], len(d))
		}
		if i == len(d) {
			d = append(d, nil)
		}
		d[i], err = setIn(d[i], steps[1:], value)
		return d, err
	}
	return nil, fmt.Errorf("%q is below a field that is no map", steps[0])
}

// deleteIn deletes a field of a decoded value.
func deleteIn(doc any, steps []string) (any, error) {
	switch d := doc.(type) {
	case map[string]any:
		below, there := d[steps[0]]
		switch {
		case !there:
		case len(steps) == 1:
			delete(d, steps[0])
		default:
			changed, err := deleteIn(below, steps[1:])
			d[steps[0]] = changed
			return d, err
		}
	case []any:
		i, err := strconv.Atoi(steps[0])
		switch {
		case err != nil || i < 0 || i >= len(d):
		case len(steps) == 1:
			return append(d[:i:i], d[i+1:]...), nil
		default:
			d[i], err = deleteIn(d[i], steps[1:])
			return d, err
		}
	}
	return doc, nil
}
