package planted

import (
	"fmt"
	"strings"
)

// wording is what people and agents say in a language. A template's %s are filled with names, its %d with numbers.
type wording struct {
	requests    []string
	rules       []string
	decisions   []string
	reasons     []string
	todos       []string
	narrations  []string
	remarks     []string
	closings    []string
	codeLines   []string
	pathLines   []string
	instructing []string
	planning    []string
}

var wordings = map[Language]*wording{
	English: {
		requests: []string{
			"Could you add paging to the %s endpoint and cover it with tests?",
			"The nightly import of %s takes %d minutes, find out why and speed it up.",
			"Please extend %s so that it accepts a list of %d items in one call.",
			"I get a blank page when I open %s twice in a row, have a look.",
			"Now write the migration that moves %s into its own table.",
			"can you review what we have for %s and tell me what is still rough?",
			"Rename %s everywhere, including the docs, and show me the diff.",
			"next thing: the retry logic of %s gives up after %d attempts, that is too early",
			"Let the %s page load its data lazily; it blocks for %d ms at the moment.",
			"Set up a load test for %s with %d parallel clients.",
		},
		rules: []string{
			"Never push anything to %s without my okay.",
			"Please don't touch anything under %s.",
			"All amounts in %s must be stored as integers of cents.",
			"I prefer small commits over one big commit for %s.",
			"Only use the standard library in %s.",
			"Always run the linter of %s before you commit.",
			"You should not change the public interface of %s.",
			"Keep every function in %s below %d lines.",
			"Make sure that %s stays compatible with version %d.",
			"Avoid reflection in %s, it is on the hot path.",
			"No new dependencies in %s, please.",
			"Under no circumstances delete rows from %s.",
			"From now on, commit messages for %s have to start with a ticket number.",
			"Stick to table-driven tests for everything in %s.",
			"Leave the generated files of %s exactly as they are.",
			"It's essential that old clients can still read %s.",
			"The folder %s is off limits.",
			"We can't use anything under the GPL in %s.",
			"Whatever happens, %s has to keep working offline.",
			"Don't ever log the contents of %s.",
			"Do not run more than %d jobs of %s at the same time.",
			"Responses about %s should be at most %d sentences long.",
			"Ask me before you change the schema of %s.",
			"Treat warnings in %s as errors.",
			"If a test of %s is flaky, quarantine it rather than deleting it.",
		},
		decisions: []string{
			"We decided to keep %s in one process because %s.",
			"Decision: %s gets a queue of its own, since %s.",
			"I went with a plain table for %s rather than a cache, as %s.",
			"After comparing both, I settled on optimistic locking for %s because %s.",
			"Let's go with cursor paging for %s; the reason is that %s.",
			"For %s we'll use advisory locks instead of a mutex so that %s.",
			"I chose a B-tree over a hash index for %s because %s.",
			"I am switching %s to structured logs, because %s.",
		},
		reasons: []string{
			"two writers would race", "the old format has to stay readable", "restarts must be cheap", "the vendor caps us at ten connections",
			"it halves the memory", "support can then read it without tools", "rollbacks get simpler", "latency matters more than throughput there",
		},
		todos: []string{
			"Write the rollback script for %s", "Add metrics to %s", "Document the limits of %s", "Cover the empty case of %s with a test",
			"Remove the feature flag of %s", "Measure %s with %d clients", "Move %s to the new client", "Clean up the fixtures of %s",
		},
		narrations: []string{
			"Let me look at how this is wired up.", "Now I'll check the callers.", "Let me run the tests again.", "I'll search for other uses of it.",
			"Let me view the rest of the file.", "Looking at the handler next.", "Let me try that once more with more output.", "OK, now the other half.",
		},
		remarks: []string{
			"The handler simply passes the request on.", "That part looks fine to me.", "The tests there are thin but they pass.", "This file mostly holds plumbing.",
			"Nothing surprising in here.", "The naming is a bit uneven, though it is consistent within the file.",
		},
		closings: []string{
			"That is it for this part. Shall I go on with the next one?", "Everything asked for is in place now.", "All of it is working on my side. Tell me if you want it differently.",
			"I have stopped here, so that you can have a look first.",
		},
		codeLines: []string{
			"The gateway answers %s when the cart of %s is empty.", "What the customer saw is %s, and it comes out of %s.",
			"In the logs of %[2]s I found %[1]s about once a minute.", "Support reports %s for every account that was made before the move of %s.",
		},
		pathLines: []string{
			"The settings for this live in %s, next to the defaults.", "What I was looking for is defined in %s.", "The culprit is in %s, where the timeout is read.",
		},
		instructing: []string{
			"A note from the team that runs this.", "The rules of this workspace were changed.", "Applies to all work in this session.",
		},
		planning: []string{"Here is where I am:", "The plan, as it stands:", "Updated list:"},
	},
	Chinese: {
		requests: []string{
			"给 %s 接口加上分页，并补上测试。", "%s 的夜间导入要跑 %d 分钟，查一下原因并优化。", "请扩展 %s，让它一次可以接收 %d 条数据。",
			"连续打开两次 %s 页面会变成空白，帮我看看怎么回事。", "现在写一个迁移，把 %s 拆成单独的表。", "把 %s 全部重命名，文档也要改，然后给我看差异。",
			"%s 的重试逻辑试 %d 次就放弃了，太早了，改一下。", "给 %s 做一个 %d 并发的压力测试。",
		},
		rules: []string{
			"绝对不要改动 %s 目录下的文件。", "提交 %s 之前务必先跑一遍测试。", "%s 里所有金额必须用分为单位的整数存储。", "%s 里只能使用标准库，不能引入别的依赖。",
			"禁止直接操作 %s 表。", "关于 %s，我更喜欢小步提交，而不是一次大提交。", "请勿在日志里输出 %s 的内容。", "关于 %s 的回复尽量简短，最多 %d 句话。",
			"别动 %s 里的配置。", "优先复用 %s 里已有的代码。", "%s 的注释一律用中文写。", "%s 不允许出现在提交里。", "接口返回值保持不变，尤其是 %s。",
			"从今以后 %s 的分支名都要以工单号开头。", "注意：%s 是只读的，不得写入。", "修改 %s 的表结构之前要先问我。",
		},
		decisions: []string{
			"我们决定让 %s 留在同一个进程里，因为%s。", "最终选用普通表来存 %s，而不是缓存，原因是%s。", "%s 的方案定为乐观锁，这样%s。", "结论：%s 改用游标分页，因为%s。",
			"经过比较，%s 采用 B 树索引而不是哈希索引，因为%s。",
		},
		reasons: []string{"两个写入方会互相覆盖", "旧格式必须还能读", "重启的代价要小", "供应商最多给十个连接", "内存可以省一半", "回滚会更简单"},
		todos: []string{
			"给 %s 写回滚脚本", "给 %s 加上监控指标", "把 %s 的上限写进文档", "给 %s 的空数据情况补测试", "去掉 %s 的功能开关", "把 %s 迁移到新的客户端",
		},
		narrations: []string{"让我看看这里是怎么接起来的。", "现在我去查一下调用方。", "我再跑一遍测试。", "我先搜一下别的用法。", "让我看完这个文件剩下的部分。"},
		remarks:    []string{"这里只是把请求传下去。", "这部分看起来没什么问题。", "这个文件里大多是胶水代码。", "没有什么意外的地方。"},
		closings:   []string{"这一部分就到这里，要我继续下一个吗？", "要求的内容都放好了。", "我这边都能跑，有不满意的地方告诉我。"},
		codeLines: []string{
			"%[2]s 的购物车为空时，网关返回 %[1]s。", "客户看到的是 %s，它来自 %s。", "在 %[2]s 的日志里我发现 %[1]s 大约每分钟出现一次。",
		},
		pathLines:   []string{"相关的配置位于 %s，就在默认值旁边。", "我要找的定义在 %s 里面。", "问题在 %s，超时时间是在那里读取的。"},
		instructing: []string{"来自维护团队的说明。", "本工作区的规定有更新。", "以下内容适用于本次会话的全部工作。"},
		planning:    []string{"目前的计划：", "更新后的清单："},
	},
}

var (
	modules = []string{
		"billing", "ledger", "catalog", "checkout", "inventory", "notifier", "scheduler", "gateway", "profile", "search", "sessions", "uploads",
		"webhooks", "reports", "pricing", "shipping", "tenants", "audit", "metering", "coupons",
	}
	parts = []string{"store", "client", "worker", "router", "parser", "queue", "index", "export", "import", "cache", "sync", "view", "batch", "policy"}
	roots = []string{"src", "internal", "services", "packages/core/src", "app/models", "lib", "cmd/server", "web/src/features"}
	ends  = []string{".go", ".py", ".ts", ".rs", ".sql", ".yaml", ".tsx", ".java"}
)

// pick chooses one of a list.
func (g *generator) pick(list []string) string { return list[g.rng.IntN(len(list))] }

// fresh chooses one of a list that was not chosen before, as long as there is one.
func (g *generator) fresh(list []string) string {
	if g.used == nil {
		g.used = map[string]bool{}
	}
	for range 4 * len(list) {
		s := g.pick(list)
		if !g.used[s] {
			g.used[s] = true
			return s
		}
	}
	return g.pick(list)
}

// name makes a name that no other has.
func (g *generator) name() string {
	g.unique++
	return fmt.Sprintf("%s_%s_%d", g.pick(modules), g.pick(parts), g.unique)
}

// newPath makes a path that no other has.
func (g *generator) newPath() string {
	g.unique++
	return fmt.Sprintf("%s/%s/%s_%d%s", g.pick(roots), g.pick(modules), g.pick(parts), g.unique, g.pick(ends))
}

// newCode makes an error code that no other is.
func (g *generator) newCode() string {
	g.unique++
	n := 1000 + g.rng.IntN(900)*10 + g.unique%10
	switch g.rng.IntN(5) {
	case 0:
		return fmt.Sprintf("E%d%d", n, g.unique)
	case 1:
		return fmt.Sprintf("ERR_%s_%d%d", strings.ToUpper(g.pick(modules)), n, g.unique)
	case 2:
		return fmt.Sprintf("%s-%d%d", strings.ToUpper(g.pick(modules)[:3]), n, g.unique)
	case 3:
		return fmt.Sprintf("SQLSTATE-%d%d", n, g.unique)
	default:
		return fmt.Sprintf("0x%05x%04x", g.unique, n)
	}
}

// phrase fills a template.
func (g *generator) phrase(template string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(template, '%')
		if i < 0 {
			break
		}
		b.WriteString(template[:i])
		switch template[i+1] {
		case 'd':
			fmt.Fprintf(&b, "%d", 2+g.rng.IntN(60))
		default:
			b.WriteString(g.name())
		}
		template = template[i+2:]
	}
	return b.String() + template
}
