package nocloud

import (
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// MetaData is what meta-data says about the instance.
type MetaData struct {
	// InstanceID tells one instance from the next: a machine that boots again with the same one has been configured.
	InstanceID string
	// LocalHostname is the host name; empty when meta-data names none.
	LocalHostname string
	// KubernetesVersion is what capmox says the machine is for, with its "v"; empty when it does not.
	KubernetesVersion string
	// values are all scalar keys, with "-" written as "_", the form in which templates name them.
	values map[string]string
}

// DecodeMetaData reads a meta-data file. Without an instance-id it is no instance, and cloud-init rejects it.
func DecodeMetaData(data []byte) (*MetaData, error) {
	raw := map[string]any{}
	if err := yaml.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("decode meta-data: %w", err)
	}
	m := &MetaData{values: map[string]string{}}
	for key, value := range raw {
		switch value.(type) {
		case string, float64, bool, int64:
			m.values[strings.ReplaceAll(key, "-", "_")] = fmt.Sprint(value)
		}
	}
	m.InstanceID, m.LocalHostname = m.values["instance_id"], m.values["local_hostname"]
	m.KubernetesVersion = m.values["kubernetes_version"]
	if m.InstanceID == "" {
		return nil, errors.New("decode meta-data: instance-id is missing")
	}
	return m, nil
}

// variables are the names that a template may use. Upstream:
// https://cloudinit.readthedocs.io/en/latest/explanation/instancedata.html
func (m *MetaData) variables() map[string]string {
	vars := map[string]string{"v1.instance_id": m.InstanceID, "v1.local_hostname": m.LocalHostname}
	vars["instance_id"], vars["local_hostname"] = m.InstanceID, m.LocalHostname
	for key, value := range m.values {
		vars["ds.meta_data."+key] = value
	}
	return vars
}
