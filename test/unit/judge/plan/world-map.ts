// Draws judge/print/world.json: the countries as paths of SVG, small enough to stand in each page.
// The shapes are those of Natural Earth, which are in the public domain.
import { geoNaturalEarth1, geoPath } from 'd3-geo'
import { feature } from 'topojson-client'
import atlas from 'world-atlas/countries-110m.json' with { type: 'json' }
import { placesOfCountries } from '#dashboard/map/places.ts'

export const worldMapPath = 'judge/print/world.json'

const [width, height] = [960, 440]
/** Radius of the dot for a country that is too small to have a shape. */
const dotRadius = 3

type Topology = Parameters<typeof feature>[0]
interface Shapes {
  readonly features: readonly (Parameters<ReturnType<typeof geoPath>>[0] & {
    readonly id?: string
    readonly properties: { readonly name: string }
  })[]
}

/** Shapes without a number of ISO 3166-1, and the letters that databases give their clients. */
const withoutNumber: Readonly<Record<string, string>> = {
  Kosovo: 'XK',
  'N. Cyprus': 'CY',
  Somaliland: 'SO',
}

export function drawWorldMap(): string {
  const topology = atlas as unknown as Topology
  const countries = topology.objects['countries'] as Parameters<typeof feature>[1]
  const { features } = feature(topology, countries) as unknown as Shapes
  const projection = geoNaturalEarth1()
    .scale(178)
    .translate([width / 2, height / 2 + 22])
  const draw = geoPath(projection).digits(0)
  const paths = new Map<string, string>()
  const dots = new Map<string, string>()
  for (const shape of features) {
    const { id, properties } = shape
    const code = id === undefined ? withoutNumber[properties.name] : lettersOf(id)
    if (code === undefined) throw new Error(`${properties.name} has no letters`)
    if (code === 'AQ') continue
    paths.set(code, (paths.get(code) ?? '') + shortPath(draw(shape) ?? ''))
  }
  for (const [code, { lon, lat }] of placesOfCountries()) {
    if (paths.has(code) || code === 'AQ') continue
    const [x, y] = projection([lon, lat])!.map(Math.round) as [number, number]
    const half = `a${dotRadius} ${dotRadius} 0 1 0 `
    const around = `${half}${2 * dotRadius} 0${half}${-2 * dotRadius} 0z`
    dots.set(code, `M${x - dotRadius} ${y}${around}`)
  }
  // Dots come last: what is drawn later lies above.
  const all = Object.fromEntries([...sorted(paths), ...sorted(dots)])
  return `${JSON.stringify({ width, height, paths: all }, undefined, 2)}\n`
}

const sorted = (paths: ReadonlyMap<string, string>) =>
  [...paths].toSorted(([one], [other]) => (one < other ? -1 : 1))

/** Two letters for a number of ISO 3166-1, which Unicode knows as another name of them. */
const lettersOf = (id: string): string | undefined => new Intl.Locale(`und-${id}`).region

/** The same lines with steps in place of places; what is smaller than a dot of the drawing goes. */
function shortPath(path: string): string {
  return path
    .split('Z')
    .map((ring) => [...ring.matchAll(/(-?\d+),(-?\d+)/g)].map(([, x, y]) => [Number(x), Number(y)]))
    .filter((ring) => ring.length > 3)
    .map((ring) => {
      let [atX, atY] = ring[0] as [number, number]
      let steps = ''
      for (const [x = 0, y = 0] of ring.slice(1)) {
        if (x === atX && y === atY) continue
        steps += `${steps === '' || x < atX ? '' : ' '}${x - atX}${y < atY ? '' : ' '}${y - atY}`
        ;[atX, atY] = [x, y]
      }
      return `M${ring[0]!.join(' ')}l${steps}z`
    })
    .join('')
}
