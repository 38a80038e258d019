package transcript

import "github.com/compactord/compactord/dialects/dialect"

// The bounds of the contract. What exceeds one is refused here, since here the line is known.
const (
	maxText        = dialect.MaxText
	maxName        = dialect.MaxName
	maxID          = dialect.MaxID
	maxFileName    = dialect.MaxFileName
	maxErrorText   = dialect.MaxErrorText
	maxParts       = dialect.MaxParts
	maxResultParts = dialect.MaxResultParts
	maxAttachments = dialect.MaxAttachments
	maxSummary     = 4 << 20
	maxTitle       = 512
	maxPath        = 4096
)
