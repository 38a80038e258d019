// Package packaging tests what is in the folder packaging: the systemd unit, the manifests for Kubernetes, the alerts for
// Prometheus and the dashboard for Grafana. It is a module of its own, since neither the program nor the other tools need
// its dependencies.
package packaging
