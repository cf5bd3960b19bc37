package allocation

import (
	"fmt"

	"kubehenge.dev/api/v1alpha1"
)

// blockSize is how many VMIDs a cluster gets, and what a cluster of more nodes gets more of.
const blockSize = 100

// ownerVM is the VM that owns a cluster's volumes; it has the last VMID of the block.
const ownerVM = 1

// blocksFor is the size of the block for so many nodes and the owner of their volumes: whole hundreds.
func blocksFor(nodes int) int32 {
	return int32((nodes + ownerVM + blockSize - 1) / blockSize * blockSize)
}

func overlap(a, b v1alpha1.IDRange) bool { return a.Start <= b.End && b.Start <= a.End }

func size(r v1alpha1.IDRange) int { return int(r.End) - int(r.Start) + 1 }

func showIDs(r v1alpha1.IDRange) string { return fmt.Sprintf("%d-%d", r.Start, r.End) }

// freeBlock is the lowest block of so many VMIDs within the range that touches none of the taken ones. Blocks begin
// at whole hundreds from the range's start.
func freeBlock(within v1alpha1.IDRange, taken []v1alpha1.IDRange, want int32) (v1alpha1.IDRange, bool) {
	for start := int64(within.Start); start+int64(want)-1 <= int64(within.End); start += blockSize {
		block := v1alpha1.IDRange{Start: int32(start), End: int32(start + int64(want) - 1)}
		if !touchesAny(block, taken) {
			return block, true
		}
	}
	return v1alpha1.IDRange{}, false
}

func touchesAny(block v1alpha1.IDRange, taken []v1alpha1.IDRange) bool {
	for _, t := range taken {
		if overlap(block, t) {
			return true
		}
	}
	return false
}
