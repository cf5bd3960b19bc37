package proxmox

import (
	"strings"
	"time"
)

// bit is a boolean as Proxmox VE takes it: true and false as words are refused.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// seconds is a time as Proxmox VE counts it; 0 is never.
func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// moment is the time of seconds.
func moment(seconds whole) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}

// splitList reads a list that Proxmox VE writes with commas; an empty one is nil.
func splitList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' || r == ' ' })
}
