// Implements the API's port to the settings of this node: values and their origin, with secrets
// hidden.
import type { NodeSetting, NodeSettings } from '#ports/node-settings.ts'
import { changedSettings, overrides, settled } from '#settings/settings.ts'
import type { Settings } from '#settings/settings.ts'
import { settingRows } from '#settings/schema.ts'
import type { SettingRow } from '#settings/schema.ts'
import { durationText } from '#lib/duration.ts'

const hidden = '***'

/**
 * @param settings those in force
 *
 * @param latest as last read: what waits for a restart differs
 */
export function createSettingsView(settings: () => Settings, latest: () => Settings): NodeSettings {
  return {
    list: () => {
      const [now, next] = [settings(), latest()]
      const pending = new Set(changedSettings(now, next).needRestart)
      return settingRows.map((row) => shown(now, row, pending.has(row.key)))
    },
  }
}

function shown(settings: Settings, row: SettingRow, isPending: boolean): NodeSetting {
  const { key, leaf } = row
  const source = settings.origins?.get(key) ?? 'default'
  const isSecret = leaf['x-secret'] === true
  return {
    key,
    value: shownValue(settled(settings, row), isSecret, leaf['x-kind'] === 'duration'),
    source,
    origin: originOf(settings, key, source),
    isSecret,
    needsRestart: leaf['x-reload'] !== true,
    isPending,
  }
}

function originOf(settings: Settings, key: string, source: NodeSetting['source']): string {
  const override = overrides.find((one) => one.key === key)
  switch (source) {
    case 'file':
      return settings.file ?? ''
    case 'environment':
      return override?.env ?? ''
    case 'command line':
      return override?.flag === undefined ? '' : `--${override.flag}`
    case 'default':
      return ''
  }
}

function shownValue(value: unknown, isSecret: boolean, isDuration: boolean): unknown {
  if (value === undefined || value === null) return null
  if (isSecret) return value === '' ? '' : hidden
  if (isDuration) return value === 0 ? '0' : durationText(value as number)
  return withoutPasswords(value)
}

/** Removes what precedes the `@` of an address, which grants access. */
function withoutPasswords(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/:\/\/[^@/]*@/, `://${hidden}@`)
  if (Array.isArray(value)) return value.map(withoutPasswords)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, withoutPasswords(one)]),
  )
}
