// Zones with one service each, of so many addresses of each family.
import type { StaticConfig, StaticZone } from './fixture.ts'

interface Counts {
  readonly v4: number
  readonly v6: number
}

/** `www` in each zone. */
export function servicesConfig(byZone: Readonly<Record<string, Counts>>): StaticConfig {
  return {
    zones: Object.keys(byZone).map(zoneOf),
    services: Object.entries(byZone).map(([zone, { v4, v6 }]) => ({
      domain: `www.${zone}`,
      ttlSeconds: 60,
      addresses: [
        ...Array.from({ length: v4 }, (_, i) => `10.1.${i >> 8}.${i & 255}`),
        ...Array.from({ length: v6 }, (_, i) => `2001:db8::1:${i.toString(16)}`),
      ],
    })),
  }
}

const zoneOf = (name: string): StaticZone => ({
  name,
  ...{ mname: 'ns1.example.net.', rname: 'hostmaster.example.net.' },
  ...{ ttlSeconds: 120, minimumSeconds: 30 },
  nameservers: [{ name: 'ns1.example.net.', addresses: [] }],
})
