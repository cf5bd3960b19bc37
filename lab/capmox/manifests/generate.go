package manifests

//go:generate sh -c "cd ../../.. && go tool -modfile=api/controller-gen.mod controller-gen object paths=./lab/capmox/api/..."
//go:generate sh -c "cd ../../.. && go tool -modfile=api/controller-gen.mod controller-gen crd paths=./lab/capmox/api/... output:crd:dir=lab/capmox/manifests/crds"
