// Knows whether the reader is typing: what can wait for a pause, waits for it.

export const pauseMs = 200
let pause: ReturnType<typeof setTimeout> | undefined

addEventListener(
  'keydown',
  () => {
    clearTimeout(pause)
    pause = setTimeout(() => (pause = undefined), pauseMs)
  },
  true,
)

/** Something was typed a moment ago. */
export const isTyping = (): boolean => pause !== undefined
