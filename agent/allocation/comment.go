package allocation

import (
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"
	"strconv"
	"strings"

	"kubehenge.dev/api/v1alpha1"
)

// The allocation stands in its pool's comment between brackets, on one line because Proxmox VE's form for comments
// has one line, among whatever people write there:
//
//	Shop of team A [kubehenge: network lan; nodes 10.0.41.10-10.0.41.19, 10.0.41.30; VMIDs 20000-20099; check 5f0c1a2b]
//
// check covers the pool's name and the text before it, so that an edit, a typing error or a comment copied to
// another pool is noticed: it must never lead to an address given twice.
const (
	blockStart = "[kubehenge:"
	blockEnd   = "]"
)

// block is an allocation as a comment holds it.
type block struct {
	network string
	nodes   spans
	vmIDs   v1alpha1.IDRange
}

var blockForm = regexp.MustCompile(`^\[kubehenge: (network (\S+); nodes ([0-9a-f.:, -]+); VMIDs ([0-9]+)-([0-9]+)); check ([0-9a-f]{8})\]$`)

// errNoBlock is a comment without an allocation.
var errNoBlock = errors.New("it carries no allocation")

// parseComment reads the allocation out of a pool's comment: strictly, for what is not exactly what was written was
// written by somebody else.
func parseComment(pool, comment string) (block, error) {
	raw, _, err := findBlock(comment)
	if err != nil {
		return block{}, err
	}
	m := blockForm.FindStringSubmatch(raw)
	if m == nil {
		return block{}, fmt.Errorf("%q is not of the form that was written", raw)
	}
	nodes, err := parseSpans(strings.Split(m[3], ", "))
	if err != nil {
		return block{}, err
	}
	start, errStart := strconv.ParseInt(m[4], 10, 32)
	end, errEnd := strconv.ParseInt(m[5], 10, 32)
	b := block{network: m[2], nodes: nodes, vmIDs: v1alpha1.IDRange{Start: int32(start), End: int32(end)}}
	if err := errors.Join(errStart, errEnd); err != nil || start > end || start < 1 {
		return block{}, fmt.Errorf("VMIDs %s-%s are no range", m[4], m[5])
	}
	if b.format(pool) != raw {
		return block{}, fmt.Errorf("its check %s does not fit %q", m[6], m[1])
	}
	return b, nil
}

// findBlock is the allocation's text and where it begins.
func findBlock(comment string) (string, int, error) {
	start := strings.Index(comment, blockStart)
	if start < 0 {
		return "", 0, errNoBlock
	}
	if strings.Count(comment, blockStart) > 1 {
		return "", 0, errors.New("it carries two allocations")
	}
	length := strings.Index(comment[start:], blockEnd)
	if length < 0 {
		return "", 0, errors.New("its allocation has no end")
	}
	return comment[start : start+length+len(blockEnd)], start, nil
}

// format is the allocation as text for the pool's comment.
func (b block) format(pool string) string {
	text := fmt.Sprintf("network %s; nodes %s; VMIDs %s", b.network, strings.Join(b.nodes.strings(), ", "), showIDs(b.vmIDs))
	check := crc32.ChecksumIEEE([]byte(pool + "\n" + text))
	return fmt.Sprintf("%s %s; check %08x%s", blockStart, text, check, blockEnd)
}

// comment is people's own text with the allocation in the place of the former one, or at the end.
func (b block) comment(pool, former string) string {
	raw, start, err := findBlock(former)
	switch {
	case err == nil:
		return former[:start] + b.format(pool) + former[start+len(raw):]
	case strings.TrimSpace(former) == "":
		return b.format(pool)
	}
	return strings.TrimRight(former, " ") + " " + b.format(pool)
}

// allocation is the block as the API has it.
func (b block) allocation() *v1alpha1.Allocation {
	return &v1alpha1.Allocation{Network: b.network, Addresses: b.nodes.strings(), VMIDs: b.vmIDs}
}

// blockOf reads what the claim's status has.
func blockOf(a *v1alpha1.Allocation) (block, error) {
	nodes, err := parseSpans(a.Addresses)
	return block{network: a.Network, nodes: nodes, vmIDs: a.VMIDs}, err
}

// Comment is the comment of a pool that holds an allocation and nothing of people's own.
func Comment(pool string, a *v1alpha1.Allocation) (string, error) {
	b, err := blockOf(a)
	if err != nil {
		return "", fmt.Errorf("write the comment of pool %s: %w", pool, err)
	}
	return b.format(pool), nil
}
