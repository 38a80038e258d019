package dialect

// The bounds of the contract. What breaks one is refused in parsing, where the place is known.
const (
	MaxText        = 32 << 20
	MaxName        = 256
	MaxID          = 512
	MaxFileName    = 1024
	MaxURI         = 8 << 10
	MaxErrorText   = 64 << 10
	MaxParts       = 10_000
	MaxResultParts = 1000
	MaxAttachments = 64
	MaxMessages    = 100_000
)
