package config

// SettingKeys exports settingKeys to external tests.
var SettingKeys = settingKeys
