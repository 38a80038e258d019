package sdkcheck

// unknown are fields that clients send and that the SDKs have no place for. They are passed over.
var unknown = map[string]bool{
	// Reasoning as OpenAI's imitators write it.
	"reasoning_content": true,
	// What the generators of dialecttest make up.
	"x_unknown": true, "x_extra": true, "Role": true, "läuft": true, "x.y": true, "zz": true,
}
