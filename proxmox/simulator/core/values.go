package core

import (
	"cmp"
	"crypto/rand"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// SortedKeys are the keys of a map in their order.
func SortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range maps.Keys(m) {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// SetOf makes a set of a list.
func SetOf(list []string) map[string]bool {
	m := map[string]bool{}
	for _, v := range list {
		m[v] = true
	}
	return m
}

// Itoa is strconv.Itoa.
func Itoa(n int) string { return strconv.Itoa(n) }

// DigestOf is the SHA-1 of options as a configuration file would hold them.
func DigestOf(options map[string]string) string {
	var b strings.Builder
	for _, k := range SortedKeys(options) {
		b.WriteString(k + ": " + options[k] + "\n")
	}
	return DigestText(b.String())
}

// DigestText is the SHA-1 of a text, in hexadecimal.
func DigestText(text string) string {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

// Unescape decodes a value of a cookie or header, up to a semicolon; one that is not encoded stays.
func Unescape(v string) string {
	v, _, _ = strings.Cut(v, ";")
	if u, err := url.PathUnescape(v); err == nil {
		return u
	}
	return v
}

// ObjectOf is a property string as an object.
func ObjectOf(text string) Row {
	data := Row{}
	for _, part := range strings.Split(text, ",") {
		k, v, _ := strings.Cut(part, "=")
		data[k] = v
	}
	return data
}

// Or is a value, or what is used if it is its type's zero.
func Or[T comparable](v, without T) T {
	var zero T
	if v == zero {
		return without
	}
	return v
}

// Atoi64 is the number that a text is, 0 if it is none.
func Atoi64(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// NewMAC is a random MAC address with a prefix, Proxmox VE's own if it is empty.
func NewMAC(prefix string) string {
	if prefix == "" {
		prefix = "BC:24:11"
	}
	b := make([]byte, 3)
	_, _ = rand.Read(b) // never fails
	return fmt.Sprintf("%s:%02X:%02X:%02X", strings.ToUpper(prefix), b[0], b[1], b[2])
}

// NewUUID is a random UUID, lower case.
func NewUUID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// CopyMap copies a map; the copy of nil is empty.
func CopyMap[K comparable, V any](m map[K]V) map[K]V {
	n := make(map[K]V, len(m))
	for k, v := range m {
		n[k] = v
	}
	return n
}
