package simulator

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // Proxmox VE's digests are SHA-1
	"encoding/hex"
	"maps"
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
