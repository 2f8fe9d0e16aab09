// Reads from a geo database which subdivisions clients can be in.
import type { SubdivisionSource } from '#compiler/rules/tree/tree-rule.ts'
import { placeCode } from '#bundle/format/routing-cells.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { CountryTable } from '#routing/geo/geo-tables.ts'
import { loadGeo } from '#inputs/geo/load.ts'

/** @returns an error as a sentence with the path */
export function subdivisionsIn(path: string): Result<SubdivisionSource, string> {
  const loaded = loadGeo({ setting: 'geoip.dbPath', path })
  if (!loaded.ok) return loaded
  const places = new Set<number>()
  if (loaded.buffers.subdivision !== null) {
    const table = new CountryTable(loaded.buffers.subdivision)
    for (const column of [table.subdivisionCode, table.outerSubdivisionCode]) {
      for (const place of column) if (place !== 0) places.add(place)
    }
  }
  return ok({ name: `the database ${path}`, has: (region) => places.has(placeCode(region)) })
}
