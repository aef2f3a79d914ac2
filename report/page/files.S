/* The page's sources as they stand in the tree, each with a 0 behind it. */
    .section .rodata

    .globl pm_page_html, pm_page_css, pm_page_js
    .hidden pm_page_html, pm_page_css, pm_page_js
pm_page_html:
    .incbin "report/page/page.html"
    .byte 0
pm_page_css:
    .incbin "report/page/page.css"
    .byte 0
pm_page_js:
    .incbin "report/page/page.js"
    .byte 0

    .section .note.GNU-stack, "", @progbits
