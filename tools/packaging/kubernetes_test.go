package packaging_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// manifests are the objects of packaging/kubernetes, one of each kind.
type manifests struct {
	account corev1.ServiceAccount
	service corev1.Service
	budget  policyv1.PodDisruptionBudget
	set     appsv1.StatefulSet
}

// decoded reads the manifests by the types of Kubernetes. A field that these lack is an error.
func decoded(t *testing.T) *manifests {
	t.Helper()
	m := &manifests{}
	into := map[string]any{
		"v1 ServiceAccount": &m.account, "v1 Service": &m.service, "policy/v1 PodDisruptionBudget": &m.budget, "apps/v1 StatefulSet": &m.set,
	}
	for document := range strings.SplitSeq(read(t, "../../packaging/kubernetes/compactord.yaml"), "\n---\n") {
		var kind struct{ APIVersion, Kind string }
		require.NoError(t, yaml.Unmarshal([]byte(document), &kind))
		name := kind.APIVersion + " " + kind.Kind
		require.Contains(t, into, name)
		object, err := yaml.YAMLToJSONStrict([]byte(document))
		require.NoError(t, err, name)
		// As Kubernetes does, it tells capital from small letters.
		problems, err := json.UnmarshalStrict(object, into[name])
		require.NoError(t, err, name)
		require.Empty(t, problems, name)
		delete(into, name)
	}
	require.Empty(t, into)
	return m
}

func TestManifests(t *testing.T) {
	m := decoded(t)
	pod := m.set.Spec.Template
	require.EqualValues(t, 1, *m.set.Spec.Replicas, "one process at a time opens a store")
	require.Equal(t, m.service.Name, m.set.Spec.ServiceName)
	require.Equal(t, m.account.Name, pod.Spec.ServiceAccountName)
	for _, selector := range []map[string]string{m.service.Spec.Selector, m.budget.Spec.Selector.MatchLabels, m.set.Spec.Selector.MatchLabels} {
		require.Equal(t, pod.Labels, selector)
	}
	require.Len(t, pod.Spec.Containers, 1)
	container := pod.Spec.Containers[0]
	require.True(t, *pod.Spec.SecurityContext.RunAsNonRoot)
	require.NotZero(t, *pod.Spec.SecurityContext.RunAsUser)
	require.True(t, *container.SecurityContext.ReadOnlyRootFilesystem)
	require.False(t, *container.SecurityContext.AllowPrivilegeEscalation)
	require.Equal(t, []corev1.Capability{"ALL"}, container.SecurityContext.Capabilities.Drop)
	require.False(t, *pod.Spec.AutomountServiceAccountToken)

	ports := map[string]bool{}
	for _, port := range container.Ports {
		ports[port.Name] = true
	}
	for _, port := range m.service.Spec.Ports {
		require.True(t, ports[port.TargetPort.StrVal], port.Name)
	}
	for probe, path := range map[*corev1.Probe]string{
		container.StartupProbe: "/livez", container.LivenessProbe: "/livez", container.ReadinessProbe: "/readyz",
	} {
		require.Equal(t, path, probe.HTTPGet.Path)
		require.True(t, ports[probe.HTTPGet.Port.StrVal])
		require.Equal(t, corev1.URISchemeHTTPS, probe.HTTPGet.Scheme)
	}

	mounted, volumes := map[string]bool{}, map[string]bool{}
	for _, volume := range pod.Spec.Volumes {
		volumes[volume.Name] = true
	}
	for _, claim := range m.set.Spec.VolumeClaimTemplates {
		volumes[claim.Name] = true
	}
	paths := []string{}
	for _, mount := range container.VolumeMounts {
		require.True(t, volumes[mount.Name], mount.Name)
		mounted[mount.Name] = true
		paths = append(paths, mount.MountPath)
	}
	require.Equal(t, volumes, mounted)
	for _, arg := range container.Args {
		if path := regexp.MustCompile(`=(/.*)$`).FindStringSubmatch(arg); path != nil {
			require.Regexp(t, "^("+strings.Join(paths, "|")+")/", path[1], "a file outside of the volumes")
		}
	}
	requireAccepted(t, program(t), container.Args...)
}

// The image runs as the user whom the manifests name, and asks itself by the program's own command.
func TestDockerfile(t *testing.T) {
	text := read(t, "../../packaging/Dockerfile")
	user := decoded(t).set.Spec.Template.Spec.SecurityContext
	for _, want := range []string{
		"\nUSER 65532:65532\n", "\nENTRYPOINT [\"/usr/local/bin/compactord\"]\n", "\"/usr/local/bin/compactord\", \"healthcheck\"]",
		"COMPACTORD_STORE=/var/lib/compactord/", ":nonroot\n", "FROM --platform=$BUILDPLATFORM golang:1.26 ", "CGO_ENABLED=0",
	} {
		require.Contains(t, text, want)
	}
	require.EqualValues(t, 65532, *user.RunAsUser)
	require.Contains(t, read(t, "../../go.mod"), "\ngo 1.26", "the version of the Dockerfile")
}
