// The outline of the world as paths of SVG, and where on it a place is. Loaded with the first map.
import { geoNaturalEarth1, geoPath } from 'd3-geo'
import { feature, mesh } from 'topojson-client'
import atlas from 'world-atlas/countries-110m.json'
import type { Place } from './places.ts'

export const width = 960
export const height = 440

type Topology = Parameters<typeof feature>[0]
type Countries = Parameters<typeof mesh>[1] & object

const topology = atlas as unknown as Topology
const { land: coasts, countries } = topology.objects as unknown as {
  readonly land: Parameters<typeof feature>[1]
  readonly countries: Countries
}
const projection = geoNaturalEarth1()
  .scale(178)
  .translate([width / 2, height / 2 + 22])
const draw = geoPath(projection).digits(1)

export const land = draw(feature(topology, coasts)) ?? ''
export const borders = draw(mesh(topology, countries, (a, b) => a !== b)) ?? ''

export function pointOf({ lon, lat }: Place): readonly [x: number, y: number] {
  const [x, y] = projection([lon, lat]) ?? [0, 0]
  return [Math.round(x), Math.round(y)]
}
