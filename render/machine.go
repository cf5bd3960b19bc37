package render

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/told"
)

const (
	mebibyte = 1 << 20
	gibibyte = 1 << 30
)

// machine is how large a VM is, in the units that Proxmox VE and the class take.
type machine struct {
	cores     int64
	memoryMiB int64
	diskGiB   int64
}

// fields is the value of the class's variable "machine".
func (m machine) fields() map[string]any {
	return map[string]any{"cores": m.cores, "memoryMiB": m.memoryMiB, "diskGiB": m.diskGiB}
}

// sizeOf parses cpu, memory and disk; tell gets the name of each that does not fit.
func sizeOf(cpu int32, memory, disk string, tell func(field, message string)) machine {
	m := machine{cores: int64(cpu)}
	if cpu < 1 || cpu > 512 {
		tell("cpu", fmt.Sprintf("must be 1 to 512, is %d", cpu))
	}
	var err error
	if m.memoryMiB, err = multiple(memory, 8*mebibyte, mebibyte, "8Mi"); err != nil {
		tell("memory", err.Error())
	}
	if m.diskGiB, err = multiple(disk, gibibyte, gibibyte, "1Gi"); err != nil {
		tell("disk", err.Error())
	} else if m.diskGiB < 5 {
		tell("disk", fmt.Sprintf("must be at least 5Gi, is %s", disk))
	}
	return m
}

// multiple parses a quantity that must be a positive multiple of step, and gives it in units.
func multiple(text string, step, unit int64, stepName string) (int64, error) {
	if text == "" {
		return 0, fmt.Errorf("required, such as %s", map[int64]string{mebibyte: "4Gi", gibibyte: "40Gi"}[unit])
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no quantity such as 4Gi", text)
	}
	n, whole := q.AsInt64()
	if !whole || n <= 0 || n%step != 0 || n > 1<<50 {
		return 0, fmt.Errorf("must be a multiple of %s, is %s", stepName, text)
	}
	return n / unit, nil
}

// machineOf resolves a claim's MachineSize against the Fleet's sizes.
func machineOf(at string, size v1alpha1.MachineSize, f *fleet, tell *teller) machine {
	own := size.CPU != 0 || size.Memory != "" || size.Disk != ""
	switch {
	case size.Size != "" && own:
		tell.say(at+".size", saysSizeAndNumbers, nil)
	case size.Size != "":
		m, known := f.sizes[size.Size]
		if !known {
			tell.say(at+".size", saysNoSize, told.Params{"name": strconv.Quote(size.Size), "hint": didYouMean(size.Size, f.sizes)})
		}
		return m
	case !own:
		tell.say(at, saysSizeMissing, nil)
	default:
		return sizeOf(size.CPU, size.Memory, size.Disk, func(field, message string) { tell.field(at+"."+field, "%s", message) })
	}
	return machine{}
}
