package main

import (
	"bytes"
	"debug/buildinfo"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// partsOf returns the list of the modules that are built into a program (SBOM), as JSON of CycloneDX. It has nothing but
// what the program itself says.
func partsOf(program []byte, at time.Time) ([]byte, error) {
	build, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, err
	}
	list := cyclonedx.NewBOM()
	// The same program has the same list.
	list.SerialNumber = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, program).String()
	list.Metadata = &cyclonedx.Metadata{
		Timestamp: at.Format(time.RFC3339),
		Component: component(cyclonedx.ComponentTypeApplication, build.Main.Path, build.Main.Version),
	}
	library := component(cyclonedx.ComponentTypeLibrary, "std", build.GoVersion)
	parts, needed := []cyclonedx.Component{*library}, []string{library.BOMRef}
	for _, m := range build.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		part := component(cyclonedx.ComponentTypeLibrary, m.Path, m.Version)
		parts, needed = append(parts, *part), append(needed, part.BOMRef)
	}
	list.Components = &parts
	list.Dependencies = &[]cyclonedx.Dependency{{Ref: list.Metadata.Component.BOMRef, Dependencies: &needed}}
	var out bytes.Buffer
	err = cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(list)
	return out.Bytes(), err
}

func component(kind cyclonedx.ComponentType, path, version string) *cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	return &cyclonedx.Component{BOMRef: url, Type: kind, Name: path, Version: version, PackageURL: url}
}
