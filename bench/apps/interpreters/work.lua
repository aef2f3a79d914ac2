-- Sorting with a comparison of one's own, tables by name, strings put together, closures.
local state = 42
local function random(below)
    state = (state * 1103515245 + 12345) % 2147483648
    return state % below
end

local function quicksort(a, low, high, before)
    while low < high do
        local pivot, i, j = a[(low + high) // 2], low, high
        while i <= j do
            while before(a[i], pivot) do i = i + 1 end
            while before(pivot, a[j]) do j = j - 1 end
            if i <= j then
                a[i], a[j] = a[j], a[i]
                i, j = i + 1, j - 1
            end
        end
        if j - low < high - i then
            quicksort(a, low, j, before)
            low = i
        else
            quicksort(a, i, high, before)
            high = j
        end
    end
end

local numbers = {}
for i = 1, 300000 do numbers[i] = random(1000000) end
quicksort(numbers, 1, #numbers, function(x, y) return x < y end)

local counts, names = {}, {}
for i = 1, 700000 do
    local name = "k" .. random(20000)
    if not counts[name] then names[#names + 1] = name end
    counts[name] = (counts[name] or 0) + 1
end
quicksort(names, 1, #names, function(x, y)
    return counts[x] > counts[y] or counts[x] == counts[y] and x < y
end)

local function counter(step)
    local n = 0
    return function() n = n + step; return n end
end
local counters = {}
for i = 1, 1000 do counters[i] = counter(i) end
local sum = 0
for round = 1, 4000 do
    for i = 1, #counters do sum = sum + counters[i]() end
end

local pieces = {}
for i = 1, 100000 do pieces[#pieces + 1] = names[i % #names + 1]:upper():reverse() end
local text = table.concat(pieces, " ")
local _, digits = text:gsub("%d", "%0")
print(numbers[1], numbers[#numbers], names[1], counts[names[1]], sum, #text, digits)
