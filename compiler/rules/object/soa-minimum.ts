// Finds an SOA minimum so long that negative answers outlive an outage.
import type { Soa } from '#schemas/objects/zone.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { YamlPath } from '#diagnostics/diagnostic.ts'
import type { ObjectRule } from './object-rule.ts'

/** RFC 2308 section 5 speaks of hours for static data; names that fail over need minutes. */
export const soaMinimumSecondsMax = 300

export const soaMinimum: ObjectRule<'Settings'> = {
  name: 'soa-minimum',
  kind: 'Settings',
  check({ spec }, report) {
    const soas: [Soa | undefined, YamlPath][] = [
      [spec.defaults?.soa, ['spec', 'defaults', 'soa', 'minimum']],
      ...spec.zones.map(({ soa }, i): [Soa | undefined, YamlPath] => [
        soa,
        ['spec', 'zones', i, 'soa', 'minimum'],
      ]),
    ]
    for (const [soa, path] of soas) {
      if (soa?.minimum === undefined || soa.minimum <= soaMinimumSecondsMax) continue
      report('soa-minimum-large', valueAt(...path), { args: [String(soa.minimum)] })
    }
  },
}
