package fault

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"sigs.k8s.io/yaml"
)

// MarshalJSON writes what is set, times as RFC 3339, the delay like 30s.
func (f Fault) MarshalJSON() ([]byte, error) {
	fields := map[string]any{}
	for name, into := range f.fields() {
		if v := reflect.ValueOf(into).Elem(); !v.IsZero() {
			fields[name] = v.Interface()
		}
	}
	if f.Delay != 0 {
		fields["delay"] = f.Delay.String()
	}
	return json.Marshal(fields)
}

// fields are the fields besides the delay, by their names in a file.
func (f *Fault) fields() map[string]any {
	return map[string]any{"who": &f.Who, "method": &f.Method, "path": &f.Path, "skip": &f.Skip, "times": &f.Times, "from": &f.From, "until": &f.Until,
		"status": &f.Status, "reason": &f.Reason, "body": &f.Body, "reset": &f.Reset, "taskExit": &f.TaskExit, "lockTimeout": &f.LockTimeout, "effect": &f.Effect}
}

// UnmarshalJSON reads the delay like 30s; unknown fields are errors.
func (f *Fault) UnmarshalJSON(data []byte) error {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	known := f.fields()
	for name, value := range fields {
		if name == "delay" {
			var text string
			if err := json.Unmarshal(value, &text); err != nil {
				return fmt.Errorf("delay: %w", err)
			}
			d, err := time.ParseDuration(text)
			if err != nil {
				return fmt.Errorf("delay: %w", err)
			}
			f.Delay = d
			continue
		}
		into, ok := known[name]
		if !ok {
			return fmt.Errorf("unknown field %q of a fault", name)
		}
		if err := json.Unmarshal(value, into); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// Scenario is a list of faults as a YAML file holds it.
type Scenario struct {
	Faults []Fault `json:"faults"`
}

// ParseScenario reads faults from YAML; unknown fields are errors. Times are RFC 3339, durations like 30s.
func ParseScenario(data []byte) (*Scenario, error) {
	sc := &Scenario{}
	if err := yaml.UnmarshalStrict(data, sc); err != nil {
		return nil, fmt.Errorf("parse scenario: %w", err)
	}
	for _, f := range sc.Faults {
		if err := Check(f); err != nil {
			return nil, fmt.Errorf("parse scenario: %w", err)
		}
	}
	return sc, nil
}

// YAML writes the scenario so that ParseScenario reads it again.
func (sc *Scenario) YAML() ([]byte, error) { return yaml.Marshal(sc) }
