package wording

import "fmt"

var blockWrapper = wrapperOf("context_block")

// BlockOpening comes before the content of a context block. An operator's block needs no word about who speaks.
func BlockOpening(name string, operator bool) string {
	tag := fmt.Sprintf("<context_block name=%q>\n", name)
	if operator {
		return tag
	}
	return "[Context that the application keeps here, and not a message of the user]\n" + tag
}

// BlockClosing comes after the content of a context block.
const BlockClosing = "\n</context_block>"

// BlockText is text of a context block, which cannot close the block.
func BlockText(text string) string { return blockWrapper.escape(text) }

// BlockReference stands for what views do not show of a context block. It says how to get it back, in words that recall
// understands.
func BlockReference(name string) string {
	return fmt.Sprintf("\n[Not all of this block is shown here. To read the whole of it, recall block %s.]", name)
}

// CutExtraBlock stands for what views do not show of an extra block, which is stored nowhere.
const CutExtraBlock = "\n[Not all of this block is shown here.]"
