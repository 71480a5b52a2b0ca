package controlplane

import (
	"fmt"
	"os"
)

const (
	serviceRange = "10.96.0.0/16"
	serviceIP    = "10.96.0.1"
	podRange     = "10.244.0.0/16"
	// advertised is an address in TEST-NET-1: the Service "kubernetes" must
	// have an endpoint, and a loopback address is not allowed as one.
	advertised = "192.0.2.1"
)

func etcdArguments(l layout, client, peer int) []string {
	clientURL := fmt.Sprintf("http://127.0.0.1:%d", client)
	peerURL := fmt.Sprintf("http://127.0.0.1:%d", peer)
	return []string{
		"--data-dir=" + l.file("etcd"),
		"--listen-client-urls=" + clientURL,
		"--advertise-client-urls=" + clientURL,
		"--listen-peer-urls=" + peerURL,
		"--initial-advertise-peer-urls=" + peerURL,
		"--initial-cluster=default=" + peerURL,
		"--socket-reuse-port=true",
		"--unsafe-no-fsync=true",
		"--log-level=warn",
	}
}

func apiserverArguments(l layout, etcd, secure int, auditLog string) []string {
	args := []string{
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", etcd),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", secure),
		"--permit-port-sharing=true",
		"--advertise-address=" + advertised,
		"--service-cluster-ip-range=" + serviceRange,
		"--authorization-mode=RBAC",
		"--allow-privileged=true",
		"--client-ca-file=" + l.file("ca.crt"),
		"--token-auth-file=" + l.file(tokenFile),
		"--tls-cert-file=" + l.file("apiserver.crt"),
		"--tls-private-key-file=" + l.file("apiserver.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + l.file("service-accounts.key"),
		"--service-account-signing-key-file=" + l.file("service-accounts.key"),
		"--kubelet-certificate-authority=" + l.file("ca.crt"),
		"--kubelet-preferred-address-types=InternalIP",
		"--requestheader-client-ca-file=" + l.file("front-proxy-ca.crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + l.file("front-proxy-client.crt"),
		"--proxy-client-key-file=" + l.file("front-proxy-client.key"),
		"--max-requests-inflight=2000",
		"--max-mutating-requests-inflight=1000",
		"--profiling=false",
	}
	if auditLog != "" {
		args = append(args, "--audit-policy-file="+l.file("audit-policy.yaml"), "--audit-log-path="+auditLog,
			"--audit-log-maxsize=100000") // megabytes: a single file, however long the tests take
	}
	return args
}

func controllerManagerArguments(l layout) []string {
	return []string{
		"--kubeconfig=" + l.file("components.kubeconfig"),
		"--leader-elect=false",
		"--secure-port=0",
		"--root-ca-file=" + l.file("ca.crt"),
		"--service-account-private-key-file=" + l.file("service-accounts.key"),
		"--cluster-signing-cert-file=" + l.file("ca.crt"),
		"--cluster-signing-key-file=" + l.file("ca.key"),
		// kwok sends no heartbeats: after the grace period, 50 s by default, every
		// ready pod would be marked as not ready, permanently.
		"--node-monitor-grace-period=24h",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
		"--profiling=false",
	}
}

func schedulerArguments(l layout) []string {
	return []string{"--config=" + l.file("scheduler.yaml"), "--secure-port=0"}
}

func kwokArguments(l layout) []string {
	return []string{
		"--kubeconfig=" + l.file("kubelet.kubeconfig"),
		"--config=" + l.file("stages.yaml"),
		"--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
		"--cidr=" + podRange,
	}
}

// writeConfiguration writes the files that the arguments above refer to, next to
// those of writeTrust.
func writeConfiguration(l layout, stages []byte) error {
	files := map[string][]byte{
		"stages.yaml":       stages,
		"audit-policy.yaml": []byte(auditPolicy),
		"scheduler.yaml":    fmt.Appendf(nil, schedulerConfiguration, l.file("components.kubeconfig")),
	}
	for name, content := range files {
		if err := os.WriteFile(l.file(name), content, 0o600); err != nil {
			return fmt.Errorf("write configuration %s: %w", name, err)
		}
	}
	return nil
}

// auditPolicy logs one line per request, when the response is complete.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
`

// schedulerConfiguration retries a pod soon, since tests wait for it.
const schedulerConfiguration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
clientConnection:
  kubeconfig: %q
  qps: 500
  burst: 1000
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 2
`
