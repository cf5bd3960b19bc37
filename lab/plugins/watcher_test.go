package plugins

import (
	"context"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// stage counts the players that were made and are closed; each is told when it plays.
type stage struct {
	mu           sync.Mutex
	made, closed int
	played       chan struct{}
}

func (s *stage) new() []Player {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return []Player{s}
}

// Round implements Player.
func (s *stage) Round(context.Context, kubernetes.Interface) error {
	select {
	case s.played <- struct{}{}:
	default:
	}
	return nil
}

// Close implements Player.
func (s *stage) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed++
}

func (s *stage) counts() (made, closed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made, s.closed
}

// kubeconfig is a Secret as Cluster API keeps them.
func kubeconfig(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	data, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"c": {Server: "https://127.0.0.1:1"}}, CurrentContext: "c",
		Contexts: map[string]*clientcmdapi.Context{"c": {Cluster: "c"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: "shop"}},
		Data:       map[string][]byte{"value": data},
	}
}

func TestAClusterIsPlayedForWhileItHasAKubeconfig(t *testing.T) {
	s := &stage{played: make(chan struct{})}
	management := fake.NewClientBuilder().WithObjects(kubeconfig(t, "shop-kubeconfig"), kubeconfig(t, "shop-ca")).Build()
	w := &Watcher{Management: management, New: s.new, Every: time.Millisecond}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	<-s.played
	if err := management.Delete(ctx, kubeconfig(t, "shop-kubeconfig")); err != nil {
		t.Fatal(err)
	}
	for made, closed := s.counts(); closed != 1; made, closed = s.counts() {
		if made != 1 {
			t.Fatalf("%d players for one cluster", made)
		}
		select {
		case <-s.played: // it may be in a round
		case <-time.After(time.Millisecond):
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestARenewedKubeconfigIsTakenUp(t *testing.T) {
	s := &stage{played: make(chan struct{})}
	secret := kubeconfig(t, "shop-kubeconfig")
	management := fake.NewClientBuilder().WithObjects(secret).Build()
	w := &Watcher{Management: management, New: s.new, Every: time.Millisecond}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	<-s.played
	live := &corev1.Secret{}
	if err := management.Get(ctx, client.ObjectKeyFromObject(secret), live); err != nil {
		t.Fatal(err)
	}
	live.Labels["renewed"] = "yes"
	if err := management.Update(ctx, live); err != nil {
		t.Fatal(err)
	}
	for made, _ := s.counts(); made != 2; made, _ = s.counts() {
		<-s.played
	}
	<-s.played
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if made, closed := s.counts(); made != closed {
		t.Errorf("%d players were made and %d closed", made, closed)
	}
}

func TestManyClustersAreVisitedLessOften(t *testing.T) {
	w := &Watcher{Every: time.Second, running: map[types.NamespacedName]*cluster{}}
	for i := range 200 {
		w.running[types.NamespacedName{Name: string(rune('a' + i))}] = &cluster{}
	}
	if got := w.pause(); got != 20*time.Second {
		t.Errorf("200 clusters are visited every %s", got)
	}
}
