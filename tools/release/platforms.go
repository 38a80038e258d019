package main

// platform is what a program is built for, with its names in the places where it is published.
type platform struct {
	os, arch string
	// wheelTags are the platform tags of wheels. One static program serves both C libraries of Linux.
	wheelTags []string
	// npmOS and npmCPU are those of process.platform and process.arch.
	npmOS, npmCPU string
}

// platforms are those of a release. Programs that Go 1.26 builds need macOS 12, and Linux 3.2, which is older than the C
// libraries of the tags.
var platforms = []platform{
	{"linux", "amd64", []string{"manylinux_2_17_x86_64", "musllinux_1_1_x86_64"}, "linux", "x64"},
	{"linux", "arm64", []string{"manylinux_2_17_aarch64", "musllinux_1_1_aarch64"}, "linux", "arm64"},
	{"darwin", "amd64", []string{"macosx_12_0_x86_64"}, "darwin", "x64"},
	{"darwin", "arm64", []string{"macosx_12_0_arm64"}, "darwin", "arm64"},
	{"windows", "amd64", []string{"win_amd64"}, "win32", "x64"},
}

func (p platform) String() string { return p.os + "/" + p.arch }

// program is the file name of the program.
func (p platform) program() string {
	if p.os == "windows" {
		return "compactord.exe"
	}
	return "compactord"
}
