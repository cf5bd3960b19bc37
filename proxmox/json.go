package proxmox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// flag is a Proxmox VE boolean: 0 or 1, as number or string; some calls say true or false.
type flag bool

// UnmarshalJSON reads any of Proxmox VE's spellings.
func (f *flag) UnmarshalJSON(raw []byte) error {
	switch string(bytes.Trim(raw, `"`)) {
	case "1", "true":
		*f = true
	case "0", "false", "null", "":
		*f = false
	default:
		return fmt.Errorf("%s is not a boolean", raw)
	}
	return nil
}

// whole is an integer that may come as a string. A broken number, such as a container's half of a processor, is
// rounded up.
type whole int64

// UnmarshalJSON reads 100, "100" and null.
func (w *whole) UnmarshalJSON(raw []byte) error {
	digits := string(bytes.Trim(raw, `"`))
	if digits == "null" || digits == "" {
		return nil
	}
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		*w = whole(n)
		return nil
	}
	broken, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.Abs(broken) > 1<<53 {
		return fmt.Errorf("%s is not a number", raw)
	}
	*w = whole(math.Ceil(broken))
	return nil
}

// scalar is a value of a VM's configuration, which comes as string or number, kept as its text.
type scalar string

// UnmarshalJSON keeps a string's text, and the JSON of everything else.
func (s *scalar) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		var plain string
		if err := json.Unmarshal(raw, &plain); err != nil {
			return err
		}
		*s = scalar(plain)
		return nil
	}
	*s = scalar(raw)
	return nil
}
