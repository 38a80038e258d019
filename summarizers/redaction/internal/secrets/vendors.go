package secrets

import (
	"slices"
	"strings"
)

// vendorTokens are how tokens begin whose makers let them be known so, with the least length of what follows. Gitleaks
// has rules for more of them.
var vendorTokens = map[string]int{
	"tskey-auth-": 20, "tskey-api-": 20, "tskey-client-": 20, "tskey-webhook-": 20, "tskey-scim-": 20, "rk_live_": 16, "rk_test_": 16,
	"sk_live_": 16, "sk_test_": 16, "whsec_": 20, "sk-ant-": 20, "sk-proj-": 20, "sk-svcacct-": 20, "sk-admin-": 20, "sk-or-v1-": 20, "hf_": 24,
	"r8_": 30, "pplx-": 30, "fw_": 22, "nvapi-": 30, "jina_": 30, "lsv2_pt_": 20, "lsv2_sk_": 20, "sk-lf-": 20, "csk-": 30, "e2b_": 30,
	"ntn_": 20, "figd_": 20, "lin_api_": 20, "lin_oauth_": 20, "phx_": 20, "phs_": 20, "dckr_pat_": 20, "dckr_oat_": 20, "dop_v1_": 30,
	"doo_v1_": 30, "dor_v1_": 30, "nfp_": 20, "vcp_": 20, "vca_": 20, "vci_": 20, "vcr_": 20, "sbp_": 20, "sb_secret_": 20, "pscale_pw_": 20,
	"pscale_tkn_": 20, "pscale_oauth_": 20, "napi_": 30, "glsa_": 20, "glc_": 20, "ghp_": 20, "gho_": 20, "ghu_": 20, "ghs_": 20, "ghr_": 20,
	"github_pat_": 20, "glpat-": 16, "gldt-": 16, "glrt-": 16, "glcbt-": 16, "glptt-": 16, "glft-": 16, "glimt-": 16, "glagent-": 16,
	"gloas-": 16, "glsoat-": 16, "atbb": 28, "atatt3": 40, "atctt3": 40, "npm_": 24, "rubygems_": 24, "xoxb-": 20, "xoxp-": 20, "xoxa-": 20,
	"xoxr-": 20, "xoxs-": 20, "xoxc-": 20, "xoxd-": 20, "xoxe.": 20, "xapp-": 20, "shpat_": 20, "shpca_": 20, "shppa_": 20, "shpss_": 20,
	"sq0atp-": 16, "sq0csp-": 20, "eaacedeose0cba": 20, "eaab": 60, "eaag": 60, "igqv": 60, "igaa": 60, "xkeysib-": 30, "xsmtpsib-": 30,
	"pat-na1-": 20, "pat-eu1-": 20, "dp.pt.": 20, "dp.st.": 20, "dp.ct.": 20, "dp.sa.": 20, "dp.scim.": 20, "hvs.": 20, "hvb.": 20, "hvr.": 20,
	"pul-": 30, "age-secret-key-1": 40, "age-plugin-": 40, "nsec1": 50, "xprv": 80, "yprv": 80, "zprv": 80, "sntrys_": 20, "sntryu_": 20,
	"nrak-": 20, "nrra-": 20, "dapi": 32, "dkea": 32, "pnu_": 24, "rnd_": 24, "fo1_": 24, "fm1_": 24, "fm2_": 24, "hrku-": 24, "gocspx-": 20,
	"ya29.": 20, "ops_eyj": 30, "bkua_": 20, "ccipat_": 20, "duffel_live_": 20, "duffel_test_": 20, "flwseck-": 20, "flwseck_test-": 20,
	"shippo_live_": 20, "shippo_test_": 20, "squ_": 20, "sqa_": 20, "sqp_": 20, "pmak-": 24, "rdme_": 30, "xai-": 30, "tvly-": 20, "zpka_": 20,
	"mdb_sa_sk_": 20, "cal_live_": 20, "cfpat-": 30, "cfut_": 30, "cfat_": 30, "kgat_": 20, "waka_": 30, "mlsn.": 30, "sapi_": 30, "atlasv1.": 30,
	"patchstack_": 30, "blt_": 30, "ddapp_": 30, "ddpat_": 30, "airbyte_": 30, "sl.b": 60, "sl.u.": 60, "gsk_": 24, "mcp_": 32, "ctx7sk-": 20,
	"fc-": 32, "re_": 30, "key-": 32, "sg.": 40, "akia": 16, "asia": 16, "aiza": 35, "glwt-": 16, "thk_": 30, "dt0c01.": 40, "dt0s01.": 40,
	"art_": 30, "akcp": 60, "cmvmd": 50, "lt_": 40, "sm_": 40, "vf.dm.": 30, "sha256~": 40, "oss_": 40, "ll_pat_": 20, "unkey_": 20, "ik_live_": 20, "t1.9eu": 80,
}

// findVendorToken finds a token by how it begins.
func findVendorToken(r *reading, rule, start, end int) {
	text := r.text
	if start > 0 && (wordByte(text[start-1]) || text[start-1] == '-' || text[start-1] == '/' && !strings.HasSuffix(text[:start], "//")) {
		return
	}
	set := &vendorBytes
	if strings.HasPrefix(text[start:end], "fm") {
		set = &headerBytes
	}
	stop := runOf(text, end, set, valueBytes)
	stop = end + len(strings.TrimRight(text[end:stop], ".-_"))
	r.until[rule] = stop
	prefix, body := strings.ToLower(text[start:end]), text[end:stop]
	if len(body) < vendorTokens[prefix] || standIn(body) || prefix == "key-" && uuidLike(body) {
		return
	}
	if letterByte(prefix[len(prefix)-1]) && strings.HasPrefix(body, "-") {
		// A word that begins like a token, such as a region of a cloud.
		return
	}
	if m := mixtureOf(body); m.digits < 2 || m.letters() < 2 || dotted(body) || entropy(body) < 2.8 {
		return
	}
	r.add(rule, start, stop)
}

var vendorBytes = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")

func vendorWords() []string {
	words := make([]string, 0, len(vendorTokens))
	for word := range vendorTokens {
		words = append(words, word)
	}
	slices.Sort(words)
	return words
}
