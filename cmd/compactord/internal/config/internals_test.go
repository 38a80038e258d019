package config

// SettingKeys lets tests from outside look at all keys.
var SettingKeys = settingKeys
