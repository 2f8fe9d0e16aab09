// The outline of the world as paths of SVG, and where on it a place is. Loaded with the first map.
import { geoContains, geoDistance, geoNaturalEarth1, geoPath } from 'd3-geo'
import { feature, mesh } from 'topojson-client'
import atlas from 'world-atlas/countries-110m.json'
import { placesOfCountries } from './places.ts'
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

interface Shapes {
  readonly features: readonly Parameters<typeof geoContains>[0][]
}

const shapes = (feature(topology, countries as Parameters<typeof feature>[1]) as unknown as Shapes)
  .features

/**
 * @param x in the units of the drawing
 * @returns the two letters of the country there; undefined: it is no land
 */
export function countryAt(x: number, y: number): string | undefined {
  const point = projection.invert?.([x, y])
  if (point === undefined || point === null) return undefined
  const shape = shapes.find((one) => geoContains(one, point))
  if (shape === undefined) return undefined
  // The shapes have no letters: the country is the one whose middle lies in the same shape.
  const inside = placesOfCountries().filter(([, { lon, lat }]) => geoContains(shape, [lon, lat]))
  const distance = ([, { lon, lat }]: readonly [string, Place]): number =>
    geoDistance(point, [lon, lat])
  const all = inside.length > 0 ? inside : placesOfCountries()
  return all.toSorted((a, b) => distance(a) - distance(b))[0]?.[0]
}
