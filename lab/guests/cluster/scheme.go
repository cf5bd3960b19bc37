package cluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// newScheme knows the groups that the in-memory API server serves (infrastructure/inmemory/pkg/server/api/const.go).
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	builders := runtime.SchemeBuilder{
		corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, storagev1.AddToScheme, policyv1.AddToScheme,
		apiextensionsv1.AddToScheme,
	}
	return scheme, builders.AddToScheme(scheme)
}
