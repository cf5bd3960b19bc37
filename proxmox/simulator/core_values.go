package simulator

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

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range maps.Keys(m) {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func set(list []string) map[string]bool {
	m := map[string]bool{}
	for _, v := range list {
		m[v] = true
	}
	return m
}

func itoa(n int) string { return strconv.Itoa(n) }

// digestOf is the SHA-1 of options as a configuration file would hold them.
func digestOf(options map[string]string) string {
	var b strings.Builder
	for _, k := range sortedKeys(options) {
		b.WriteString(k + ": " + options[k] + "\n")
	}
	return digestText(b.String())
}

func digestText(text string) string {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

func unescape(v string) string {
	v, _, _ = strings.Cut(v, ";")
	if u, err := url.PathUnescape(v); err == nil {
		return u
	}
	return v
}

func objectOf(text string) row {
	data := row{}
	for _, part := range strings.Split(text, ",") {
		k, v, _ := strings.Cut(part, "=")
		data[k] = v
	}
	return data
}

func or[T comparable](v, without T) T {
	var zero T
	if v == zero {
		return without
	}
	return v
}

func atoi64(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

func newMAC(prefix string) string {
	if prefix == "" {
		prefix = "BC:24:11"
	}
	b := make([]byte, 3)
	_, _ = rand.Read(b) // never fails
	return fmt.Sprintf("%s:%02X:%02X:%02X", strings.ToUpper(prefix), b[0], b[1], b[2])
}

// newUUID is a random UUID, lower case.
func newUUID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func copyMap[K comparable, V any](m map[K]V) map[K]V {
	n := make(map[K]V, len(m))
	for k, v := range m {
		n[k] = v
	}
	return n
}
