package schema

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// check is a format of strings: what is wrong with a value, nil if nothing is.
type check func(text string) error

// match makes a format of a pattern and of the text for what does not match; "%s" in it stands for the value.
func match(pattern, text string) check {
	re := regexp.MustCompile(`\A(?:` + pattern + `)\z`)
	return func(value string) error {
		if re.MatchString(value) {
			return nil
		}
		return errors.New(strings.ReplaceAll(text, "%s", value))
	}
}

// formats are the named formats. Texts are Proxmox VE's: pve-common src/PVE/JSONSchema.pm, pve-access-control
// src/PVE/AccessControl.pm, pve-storage src/PVE/Storage/Plugin.pm, qemu-server src/PVE/QemuServer.pm.
var formats = map[string]check{
	"vmid":           match(`[1-9][0-9]{2,8}`, "value does not look like a valid VM ID"),
	"node":           match(`[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?`, "value does not look like a valid node name"),
	"dns-name":       match(`[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*`, "value does not look like a valid DNS name"),
	"storage-id":     match(`(?i:[a-z][a-z0-9._-]*[a-z0-9])`, "storage ID '%s' contains illegal characters"),
	"configid":       match(`(?i:[a-z][a-z0-9_-]+)`, "invalid configuration ID '%s'"),
	"groupid":        match(`[A-Za-z0-9._-]+`, "group name '%s' contains invalid characters"),
	"roleid":         match(`[A-Za-z0-9._-]+`, "role name '%s' contains invalid characters"),
	"realm":          match(`[A-Za-z][A-Za-z0-9._-]+`, "value does not look like a valid realm"),
	"bridge-id":      match(`[-_.\w]+`, "invalid bridge name '%s'"),
	"mac-addr":       macAddress,
	"disk-size":      match(`\d+(\.\d+)?[KMGT]?`, "value does not look like a valid disk size: %s"),
	"urlencoded":     match(`[-%a-zA-Z0-9_.!~*'()]*`, "invalid urlencoded string: %s"),
	"email":          match(`[^@\s]+@[^@\s]+`, "value does not look like a valid email address"),
	"userid":         userID,
	"tokenid":        tokenID,
	"poolid":         poolID,
	"priv":           anything, // which privileges exist depends on the version; the handler checks
	"volume-id":      volumeID,
	"volume-or-path": volumeOrPath,
	"import-source":  importSource,
	"ha-resource-id": match(`(?:(?:vm|ct|fe):)?[1-9][0-9]{2,8}|[a-z]+:.+`, "value does not look like a valid ha resource id"),
	"ha-node":        match(`[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(:\d+)?`, "value does not look like a valid ha group member"),
	"tag":            match(`(?i:[a-z0-9_][a-z0-9_+.-]*)`, "invalid characters in tag"),
	"address":        address,
	"boot":           anything,
	"cpuset":         match(`\s*\d+(?:-\d+)?(?:\s*,\s*\d+(?:-\d+)?)*\s*`, "invalid cpuset '%s'"),
	"calendar-event": calendarEvent,
	"hotplug":        hotplug,
	"opaque":         anything,
}

// Structured formats: property strings with a schema of their own. See Define.
var structured = map[string]*Schema{}

// Define adds a format of property strings, in the notation of this package. It is for package initialisation.
func Define(name string, texts ...string) *Schema {
	s := &Schema{}
	structured[name] = s // known before it is parsed: formats may name each other
	*s = *Must(texts...)
	return s
}

// Format returns the schema of a format of property strings, nil if name is none.
func Format(name string) *Schema { return structured[name] }

// KnownFormat tells whether there is a format of this name.
func KnownFormat(name string) bool { return formats[name] != nil || structured[name] != nil }

// CheckFormat checks a value against a named format. path is what errors within a property string are told of.
func CheckFormat(name, path, text string) error {
	if f, ok := formats[name]; ok {
		return f(text)
	}
	if s, ok := structured[name]; ok {
		_, err := s.ParseProperties(path, text)
		return err
	}
	return fmt.Errorf("undefined format '%s'", name)
}

func anything(string) error { return nil }

var (
	userName = regexp.MustCompile(`\A([^\s:/]+)@([A-Za-z][A-Za-z0-9._-]+)\z`)
	token    = regexp.MustCompile(`\A([^\s:/]+)@([A-Za-z][A-Za-z0-9._-]+)!([A-Za-z][A-Za-z0-9._-]+)\z`)
)

func userID(text string) error {
	switch {
	case len(text) < 3:
		return fmt.Errorf("user name '%s' is too short", text)
	case len(text) > 64:
		return fmt.Errorf("user name '%s' is too long (%d > 64)", text, len(text))
	case !userName.MatchString(text):
		return fmt.Errorf("value '%s' does not look like a valid user name", text)
	}
	return nil
}

func tokenID(text string) error {
	if !token.MatchString(text) {
		return fmt.Errorf("value '%s' does not look like a valid token ID", text)
	}
	return nil
}

var poolSegment = regexp.MustCompile(`\A[A-Za-z0-9._-]+\z`)

func poolID(text string) error {
	segments := strings.Split(text, "/")
	if len(segments) > 3 {
		return fmt.Errorf("pool name '%s' nested too deeply (max levels = 3)", text)
	}
	for _, s := range segments {
		if !poolSegment.MatchString(s) {
			return fmt.Errorf("pool name '%s' contains invalid characters", text)
		}
	}
	return nil
}

var volumeName = regexp.MustCompile(`(?i)\A([a-z][a-z0-9._-]*[a-z0-9]):(\S.*)\z`)

func volumeID(text string) error {
	if !volumeName.MatchString(text) {
		return fmt.Errorf("unable to parse volume ID '%s'", text)
	}
	return nil
}

func volumeOrPath(text string) error {
	if text == "none" || text == "cdrom" || strings.HasPrefix(text, "/") {
		return nil
	}
	return volumeID(text)
}

func importSource(text string) error {
	if strings.HasPrefix(text, "/") {
		return nil
	}
	return volumeID(text)
}

var mac = regexp.MustCompile(`\A(?i:[a-f0-9][02468ace](?::[a-f0-9]{2}){5})\z`)

func macAddress(text string) error {
	if !mac.MatchString(text) {
		return errors.New("value does not look like a valid unicast MAC address")
	}
	return nil
}

func address(text string) error {
	if _, err := netip.ParseAddr(text); err != nil && match(`[a-zA-Z0-9.-]+`, "x")(text) != nil {
		return errors.New("value does not look like a valid address: " + text)
	}
	return nil
}

func hotplug(text string) error {
	for _, f := range SplitList(text) {
		if !contains([]string{"0", "1", "network", "disk", "cpu", "memory", "usb", "cloudinit"}, f) {
			return fmt.Errorf("unknown hotplug feature '%s'", f)
		}
	}
	return nil
}

var timeOfDay = regexp.MustCompile(`\A(?:\*|\d{1,2}(?:\.\.\d{1,2})?)(?:/\d+)?(?:,(?:\d{1,2}(?:\.\.\d{1,2})?)(?:/\d+)?)*(?::(?:\*|[\d./,]+))?(?::[\d./,*]+)?\z`)
var minutes = regexp.MustCompile(`\A\*?/?\d+\z`)
var weekday = regexp.MustCompile(`\A(?i:(mon|tue|wed|thu|fri|sat|sun)[a-z]*((\.\.|,)(mon|tue|wed|thu|fri|sat|sun)[a-z]*)*)\z`)
var date = regexp.MustCompile(`\A[\d*./,]+-[\d*./,]+(-[\d*./,]+)?\z`)

// calendarEvent accepts systemd-like calendar events as Proxmox VE writes them: [WEEKDAYS] [DATE] [TIME].
func calendarEvent(text string) error {
	fields := strings.Fields(text)
	ok := len(fields) > 0 && len(fields) <= 3
	for _, f := range fields {
		ok = ok && (weekday.MatchString(f) || date.MatchString(f) || timeOfDay.MatchString(f) || minutes.MatchString(f) || calendarWord[f])
	}
	if !ok {
		return fmt.Errorf("invalid calendar event '%s' - unable to parse calendar event\n", text) //nolint:revive // as on the wire
	}
	return nil
}

var calendarWord = map[string]bool{"minutely": true, "hourly": true, "daily": true, "weekly": true, "monthly": true, "quarterly": true, "semiannually": true, "yearly": true, "annually": true}

// ParseSize reads a disk size such as 32G or 1.5T into bytes.
func ParseSize(text string) (int64, bool) {
	if text == "" || formats["disk-size"](text) != nil {
		return 0, false
	}
	shift := strings.IndexByte("KMGT", text[len(text)-1])
	digits := text
	if shift >= 0 {
		digits = text[:len(text)-1]
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil || f > 1<<50 {
		return 0, false
	}
	for ; shift >= 0; shift-- {
		f *= 1024
	}
	if f > 1<<62 {
		return 0, false
	}
	return int64(f), true
}

// FormatSize writes a size in bytes as Proxmox VE stores it: in the largest unit of which it is a whole number.
func FormatSize(bytes int64) string {
	if bytes == 0 {
		return "0"
	}
	unit := ""
	for _, u := range []string{"K", "M", "G", "T"} {
		if bytes%1024 != 0 {
			break
		}
		bytes, unit = bytes/1024, u
	}
	return strconv.FormatInt(bytes, 10) + unit
}
