// A map of the world with a mark for each place; the same is shown in words beside it.
import { useEffect, useState } from 'preact/hooks'
import type { Place } from './places.ts'
import type * as World from './world.ts'

type MarkTone = 'good' | 'warn' | 'bad' | 'plain' | 'clients'

export interface Mark {
  readonly key: string
  readonly place: Place
  /** How many are there: the mark grows with it. 0: a mark without a number. */
  readonly count: number
  /** In units of the drawing; left out: by `count`. Such a mark lies below the others. */
  readonly radius?: number
  readonly tone: MarkTone
  /** `DE: 3 up, 1 down`. */
  readonly words: string
  /** Where it leads, as a path. */
  readonly path: string
}

const radiusOf = (count: number): number => Math.min(26, 7 + 3 * Math.sqrt(count))

interface MapProps {
  readonly name: string
  readonly marks: readonly Mark[]
  /** Runs at a click; people without a mouse have a list beside the map. */
  readonly onCountry?: (code: string) => void
}

export function WorldMap({ name, marks, onCountry }: MapProps) {
  const [world, setWorld] = useState<typeof World | null>(null)
  useEffect(() => {
    let isHere = true
    void import('./world.ts').then((loaded) => isHere && setWorld(loaded))
    return () => {
      isHere = false
    }
  }, [])
  if (world === null) return <div class="world" role="status" aria-label="Loading the map" />
  // The largest first, so that none hides another.
  const drawn = marks.toSorted((a, b) => (b.radius ?? 0) - (a.radius ?? 0) || b.count - a.count)
  const pick = (event: MouseEvent): void => {
    const svg = event.currentTarget as SVGSVGElement
    const matrix = svg.getScreenCTM()?.inverse()
    if (onCountry === undefined || matrix === undefined) return
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix)
    const code = world.countryAt(x, y)
    if (code !== undefined) onCountry(code)
  }
  return (
    <svg
      class={onCountry === undefined ? 'world' : 'world pickable'}
      onClick={pick}
      viewBox={`0 0 ${world.width} ${world.height}`}
      role="group"
      aria-label={name}
    >
      <path class="land" d={world.land} />
      <path class="borders" d={world.borders} />
      {drawn.map(({ key, place, count, radius = radiusOf(count), tone, words, path }) => {
        const [x, y] = world.pointOf(place)
        return (
          <a key={key} href={`#${path}`} aria-label={words}>
            <circle class={`mark ${tone}`} cx={x} cy={y} r={radius}>
              <title>{words}</title>
            </circle>
            {count > 0 && (
              <text class={`mark-count ${tone}`} x={x} y={y} aria-hidden="true">
                {count.toLocaleString()}
              </text>
            )}
          </a>
        )
      })}
    </svg>
  )
}
